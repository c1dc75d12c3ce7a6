#pragma once

// What the library stubs share.  The core lives in libcudart (fakecuda.cpp).
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <type_traits>

extern "C" {
int fakecuda_is_device_ptr(const void*);
void fakecuda_unknown(const char*);
void fakecuda_note(const char*);
int fakecuda_take(int dev, size_t bytes, const char* who);
void fakecuda_enqueue(cudaStream_t);
void fakecuda_work(cudaStream_t, const void*, const void*, const void*, double flops, double bytes);
}

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace fake {

inline size_t env_bytes(const char* name, size_t dflt) {
  const char* s = getenv(name);
  return s && *s ? strtoull(s, nullptr, 0) : dflt;
}

inline void* object() { return calloc(1, 4096); }
/// What a handle or descriptor made by object() keeps.
inline int64_t* kept(const void* object) { return (int64_t*)object; }
inline cudaStream_t stream_of(const void* handle) {
  return handle ? (cudaStream_t)kept(handle)[0] : nullptr;
}

// A parameter that a function may write: handles get an object when the
// function makes one, numbers and enums get zero, data is left alone.
template <class T>
void out(T* p, bool creates) {
  if (!p || fakecuda_is_device_ptr(p)) return;
  if constexpr (std::is_pointer<T>::value) {
    *p = creates ? (T)object() : nullptr;
  } else if constexpr (std::is_integral<T>::value || std::is_enum<T>::value) {
    if (!std::is_same<T, char>::value) *p = (T)(creates && sizeof(T) >= 4 ? 1 : 0);
  }
}
template <class T>
void out(const T*, bool) {}
inline void out(void*, bool) {}
inline void out(void** p, bool) {
  if (p && !fakecuda_is_device_ptr(p)) *p = nullptr;
}

}  // namespace fake
