// operator new and delete of the program: a run makes and drops some hundred thousand small objects
// (values, tensors, nodes, list elements), and the C library's general allocator was a fifth of it.
//
//     arena   |16 16 16 16 ...|48 48 48 ...|32 32 32 ...|        one size a chunk of 64 KiB
//     sizes_  |      1        |     3      |      2     |        in units of 16 bytes, by chunk
//
// Objects up to kLargest bytes come from a range of addresses reserved once; each thread keeps a
// list of free objects a size and the rest of one chunk a size. What is larger, or finds no room
// in the range, is malloc's. Memory of small objects is used again, never returned to the system.

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

namespace {

constexpr std::size_t kUnit = 16;
constexpr std::size_t kLargest = 1024;
constexpr std::size_t kChunk = std::size_t{1} << 16U;
constexpr std::size_t kArena = std::size_t{1} << 35U;

struct FreeObject {
  FreeObject* next;
};
struct Shelf {
  FreeObject* first;  ///< objects given back
  char* begin;        ///< of the rest of the newest chunk, never handed out
  char* end;
};

thread_local constinit std::array<Shelf, kLargest / kUnit + 1> shelves_{};
constinit std::array<std::uint8_t, kArena / kChunk> sizes_{};
constinit std::mutex mutex_;

// Set at the first small request, which the C++ library makes before any thread starts.
constinit std::uintptr_t arena_begin_ = 0;
constinit std::size_t arena_bytes_ = 0;
constinit std::size_t used_bytes_ = 0;  ///< guarded by mutex_, as is_reserved_ is
constinit bool is_reserved_ = false;

void* from_malloc(std::size_t bytes) {
  void* const object = std::malloc(bytes == 0 ? 1 : bytes);
  if (object == nullptr) throw std::bad_alloc();
  return object;
}

/// Gives `shelf` a chunk. Returns false when the arena has none left.
bool open_chunk(Shelf& shelf, std::size_t units) {
  const std::lock_guard lock(mutex_);
  if (!is_reserved_) {
    is_reserved_ = true;
    void* const range = mmap(nullptr, kArena, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range != MAP_FAILED) {
      arena_begin_ = reinterpret_cast<std::uintptr_t>(range);
      arena_bytes_ = kArena;
    }
  }
  if (used_bytes_ == arena_bytes_) return false;
  sizes_[used_bytes_ / kChunk] = static_cast<std::uint8_t>(units);
  // An integer, so that "is it ours?" is one comparison. NOLINTNEXTLINE(performance-no-int-to-ptr)
  shelf.begin = reinterpret_cast<char*>(arena_begin_ + used_bytes_);
  shelf.end = shelf.begin + kChunk;
  used_bytes_ += kChunk;
  return true;
}

[[gnu::noinline]] void* take_new(Shelf& shelf, std::size_t units) {
  const std::size_t bytes = units * kUnit;
  if (static_cast<std::size_t>(shelf.end - shelf.begin) < bytes && !open_chunk(shelf, units))
    return from_malloc(bytes);
  char* const object = shelf.begin;
  shelf.begin += bytes;
  return object;
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (bytes > kLargest) [[unlikely]]
    return from_malloc(bytes);
  const std::size_t units = bytes == 0 ? 1 : (bytes + kUnit - 1) / kUnit;
  Shelf& shelf = shelves_[units];
  FreeObject* const object = shelf.first;
  if (object == nullptr) [[unlikely]]
    return take_new(shelf, units);
  shelf.first = object->next;
  return object;
}

void operator delete(void* object) noexcept {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(object) - arena_begin_;
  if (offset >= arena_bytes_) {
    std::free(object);
    return;
  }
  auto* const free_object = static_cast<FreeObject*>(object);
  Shelf& shelf = shelves_[sizes_[offset / kChunk]];
  free_object->next = shelf.first;
  shelf.first = free_object;
}

void operator delete(void* object, std::size_t /*bytes*/) noexcept { operator delete(object); }
