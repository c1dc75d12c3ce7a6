// operator new and delete of the program: a run makes and drops some hundred thousand small objects
// (values, tensors, nodes, list elements), and the C library's general allocator was a fifth of it.
//
//     sizes_              |      1        |     3      |      2     |   in units of 16 bytes, by
//     page
//     ... |n|1280 |n|2560 |16 16 16 16 ...|48 48 48 ...|32 32 32 ...|
//     <------------ large | small ------------>
//
// A range of addresses is reserved once. From its middle on, objects up to kLargest bytes come from
// chunks of one size each, which grow from a page to kChunk; each thread keeps a list of free
// objects a size and the rest of one chunk a size. Larger ones (what vectors grow through) are
// rounded up to a quarter of an octave and come from below the middle, one after another, with a
// header that names their size and one list a size for all threads. What is larger still, or finds
// no room in the range, is malloc's. Memory is used again, never returned to the system: touching a
// page for the first time costs more than all the rest, so the range asks for huge pages too. Its
// middle is the middle of one, so that a small run needs that one alone.
// After return_large_memory() what is larger than a megabyte is malloc's, which returns it.

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "sim/base/budget.h"

namespace {

constexpr std::size_t kUnit = 16;
constexpr std::size_t kLargest = 1024;
constexpr std::size_t kPage = std::size_t{1} << 12U;
constexpr std::size_t kChunk = std::size_t{1} << 16U;
constexpr std::size_t kArena = std::size_t{1} << 34U;  ///< of small objects; as much of large ones
constexpr std::size_t kHugePage = std::size_t{1} << 21U;
constexpr std::size_t kHeader = kUnit;  ///< before a large object, so that it is aligned as others
constexpr std::size_t kReturned = std::size_t{1} << 20U;
constexpr std::size_t kLargestShared = std::size_t{1} << 26U;  ///< header included

struct FreeObject {
  FreeObject* next;
};
struct Shelf {
  FreeObject* first;  ///< objects given back
  char* begin;        ///< of the rest of the newest chunk, never handed out
  char* end;
  std::size_t chunk;  ///< the newest chunk's size; 0: none yet
};
thread_local constinit std::array<Shelf, kLargest / kUnit + 1> shelves_{};
constinit std::array<std::uint8_t, kArena / kPage> sizes_{};
constinit std::mutex mutex_;

// Set at the first request, which the C++ library makes before any thread starts.
constinit std::uintptr_t middle_ = 0;
constinit std::size_t arena_bytes_ = 0;  ///< on either side of it
constinit std::size_t used_bytes_ = 0;   ///< of small objects; guarded by mutex_, as the following
constinit std::size_t used_by_large_ = 0;
constinit std::array<FreeObject*, 4 * (std::bit_width(kLargestShared) + 1)> free_large_{};
constinit bool is_reserved_ = false;

void* from_malloc(std::size_t bytes) {
  tidemark::take_memory(bytes);
  void* const object = std::malloc(bytes == 0 ? 1 : bytes);
  if (object == nullptr) throw std::bad_alloc();
  return object;
}

/// Requires: mutex_ is held.
void reserve_arena() {
  is_reserved_ = true;
  void* const range = mmap(nullptr, 2 * kArena + kHugePage, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(range);
  middle_ = (begin + kArena) / kHugePage * kHugePage + kHugePage / 2;
  arena_bytes_ = kArena - kHugePage / 2;
  // A wish: without huge pages all is the same.
  madvise(range, 2 * kArena + kHugePage, MADV_HUGEPAGE);
}

/// Gives `shelf` a chunk. Returns false when the range has none left.
bool open_chunk(Shelf& shelf, std::size_t units) {
  const std::size_t bytes = std::clamp(2 * shelf.chunk, kPage, kChunk);
  tidemark::take_memory(bytes);
  const std::lock_guard lock(mutex_);
  if (!is_reserved_) reserve_arena();
  if (arena_bytes_ - used_bytes_ < bytes) return false;
  std::memset(&sizes_[used_bytes_ / kPage], static_cast<int>(units), bytes / kPage);
  // An integer, so that "is it ours?" is one comparison. NOLINTNEXTLINE(performance-no-int-to-ptr)
  char* const chunk = reinterpret_cast<char*>(middle_ + used_bytes_);
  used_bytes_ += bytes;
  shelf = {shelf.first, chunk, chunk + bytes, bytes};
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

/// Null: there is none of that size.
void* take_given_back(std::size_t size) {
  const std::lock_guard lock(mutex_);
  FreeObject* const object = free_large_[size];
  if (object != nullptr) free_large_[size] = object->next;
  return object;
}

[[gnu::noinline]] void* take_large(std::size_t bytes) {
  if (bytes > kLargestShared - kHeader || (bytes >= kReturned && tidemark::returns_large_memory()))
    return from_malloc(bytes);
  // Up to the next of 5, 6, 7 and 8 eighths of a power of two.
  const auto octave = static_cast<std::size_t>(std::bit_width(bytes + kHeader - 1));
  const std::size_t step = std::size_t{1} << (octave - 3);
  const std::size_t eighths = (bytes + kHeader + step - 1) / step;
  const std::size_t size = 4 * octave + eighths - 5;
  if (void* const object = take_given_back(size)) return object;
  tidemark::take_memory(eighths * step);
  const std::lock_guard lock(mutex_);
  if (!is_reserved_) reserve_arena();
  if (arena_bytes_ - used_by_large_ < eighths * step) return from_malloc(bytes);
  used_by_large_ += eighths * step;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  char* const begin = reinterpret_cast<char*>(middle_ - used_by_large_);
  *reinterpret_cast<std::size_t*>(begin) = size;
  return begin + kHeader;
}

[[gnu::noinline]] void give_back_large(void* object) {
  const std::size_t size = *reinterpret_cast<std::size_t*>(static_cast<char*>(object) - kHeader);
  auto* const free_object = static_cast<FreeObject*>(object);
  const std::lock_guard lock(mutex_);
  free_object->next = free_large_[size];
  free_large_[size] = free_object;
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (bytes > kLargest) [[unlikely]]
    return take_large(bytes);
  const std::size_t units = bytes == 0 ? 1 : (bytes + kUnit - 1) / kUnit;
  Shelf& shelf = shelves_[units];
  FreeObject* const object = shelf.first;
  if (object == nullptr) [[unlikely]]
    return take_new(shelf, units);
  shelf.first = object->next;
  return object;
}

void operator delete(void* object) noexcept {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(object) - middle_;
  if (offset >= arena_bytes_) [[unlikely]] {
    if (middle_ - reinterpret_cast<std::uintptr_t>(object) <= arena_bytes_) {
      give_back_large(object);
    } else {
      tidemark::give_memory(malloc_usable_size(object));
      std::free(object);
    }
    return;
  }
  auto* const free_object = static_cast<FreeObject*>(object);
  Shelf& shelf = shelves_[sizes_[offset / kPage]];
  free_object->next = shelf.first;
  shelf.first = free_object;
}

void operator delete(void* object, std::size_t /*bytes*/) noexcept { operator delete(object); }
