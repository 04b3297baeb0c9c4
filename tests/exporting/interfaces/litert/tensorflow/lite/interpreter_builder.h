#pragma once
#include <memory>

#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model_builder.h"
namespace tflite {
class InterpreterBuilder {
 public:
  InterpreterBuilder(const FlatBufferModel& model, const OpResolver& resolver);
  TfLiteStatus operator()(std::unique_ptr<Interpreter>* interpreter);
};
}  // namespace tflite
