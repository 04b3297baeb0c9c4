#pragma once
namespace tflite {
class OpResolver {};
namespace ops {
namespace builtin {
class BuiltinOpResolver : public OpResolver {
 public:
  BuiltinOpResolver();
};
}  // namespace builtin
}  // namespace ops
}  // namespace tflite
