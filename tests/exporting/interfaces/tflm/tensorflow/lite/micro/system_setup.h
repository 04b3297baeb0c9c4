#pragma once
namespace tflite {
void InitializeTarget();
}
