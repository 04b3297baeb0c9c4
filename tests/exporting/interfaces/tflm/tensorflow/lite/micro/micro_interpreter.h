#pragma once
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"
#include "tensorflow/lite/schema/schema_generated.h"
#define TFLITE_SCHEMA_VERSION (3)
namespace tflite {
class MicroInterpreter {
 public:
  MicroInterpreter(const Model* model, const MicroOpResolver& resolver, uint8_t* arena, size_t arena_size,
                   MicroResourceVariables* variables = nullptr);
  MicroInterpreter(const Model* model, const MicroOpResolver& resolver, MicroAllocator* allocator,
                   MicroResourceVariables* variables = nullptr);
  ~MicroInterpreter();
  TfLiteStatus AllocateTensors();
  TfLiteStatus Invoke();
  size_t arena_used_bytes() const;
  template <class T>
  T* typed_input_tensor(int index);
  template <class T>
  T* typed_output_tensor(int index);
};
}  // namespace tflite
