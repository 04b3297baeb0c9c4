#pragma once
#include <cstdint>
namespace tflite {
struct Model {
  uint32_t version() const;
};
const Model* GetModel(const void* data);
}  // namespace tflite
