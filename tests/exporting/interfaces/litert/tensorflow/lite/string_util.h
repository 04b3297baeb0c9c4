#pragma once
#include <cstddef>

#include "tensorflow/lite/c/c_api.h"
namespace tflite {
struct StringRef {
  const char* str;
  size_t len;
};
class DynamicBuffer {
 public:
  TfLiteStatus AddString(const char* text, size_t size);
  void WriteToTensor(TfLiteTensor* tensor, TfLiteIntArray* shape);
};
int GetStringCount(const TfLiteTensor* tensor);
StringRef GetString(const TfLiteTensor* tensor, int index);
}  // namespace tflite
