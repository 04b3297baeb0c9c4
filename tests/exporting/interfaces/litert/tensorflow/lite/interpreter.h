#pragma once
#include <cstddef>
#include <vector>

#include "tensorflow/lite/signature_runner.h"
namespace tflite {
class Interpreter {
 public:
  ~Interpreter();
  const std::vector<int>& inputs() const;
  const std::vector<int>& outputs() const;
  TfLiteTensor* input_tensor(size_t index);
  TfLiteTensor* output_tensor(size_t index);
  TfLiteStatus ResizeInputTensor(int tensor_index, const std::vector<int>& shape);
  TfLiteStatus AllocateTensors();
  TfLiteStatus Invoke();
  SignatureRunner* GetSignatureRunner(const char* key);
};
}  // namespace tflite
