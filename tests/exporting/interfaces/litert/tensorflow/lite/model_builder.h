#pragma once
#include <memory>
namespace tflite {
class FlatBufferModel {
 public:
  ~FlatBufferModel();
  static std::unique_ptr<FlatBufferModel> BuildFromFile(const char* path);
};
}  // namespace tflite
