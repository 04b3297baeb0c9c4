#pragma once
#include <vector>

#include "tensorflow/lite/c/c_api.h"
namespace tflite {
class SignatureRunner {
 public:
  TfLiteTensor* input_tensor(const char* name);
  const TfLiteTensor* output_tensor(const char* name) const;
  TfLiteStatus ResizeInputTensor(const char* name, const std::vector<int>& shape);
  TfLiteStatus AllocateTensors();
  TfLiteStatus Invoke();
};
}  // namespace tflite
