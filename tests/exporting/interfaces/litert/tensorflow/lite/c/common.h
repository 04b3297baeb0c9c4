#pragma once
#include "tensorflow/lite/c/c_api.h"
#ifdef __cplusplus
extern "C" {
#endif
TfLiteStatus TfLiteTensorRealloc(size_t size, TfLiteTensor* tensor);
#ifdef __cplusplus
}
#endif
