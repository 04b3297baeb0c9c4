#pragma once
#include <cstddef>
#include <cstdint>
namespace tflite {
class MicroAllocator {
 public:
  static MicroAllocator* Create(uint8_t* arena, size_t arena_size);
};
}  // namespace tflite
