#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace tidemark {

/// A reference count inside the object. One thread only: lifetimes decide events, so objects of one
/// run never cross threads. Derive `class T : public RefCounted<T>`; T is deleted when its last Ref
/// goes.
template <class T>
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  [[nodiscard]] std::uint32_t use_count() const { return count_; }

 protected:
  ~RefCounted() = default;

 private:
  template <class>
  friend class Ref;
  std::uint32_t count_ = 0;
};

/// Owning reference to a RefCounted object, possibly null. As cheap as a pointer to move.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): null is a Ref
  explicit Ref(T* object) : object_(object) { retain(); }
  Ref(const Ref& other) : object_(other.object_) { retain(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  // NOLINTBEGIN(google-explicit-constructor): as pointers convert, so do these
  template <class U>
  requires std::is_convertible_v<U*, T*> Ref(const Ref<U>& other) : object_(other.get()) {
    retain();
  }
  template <class U>
  requires std::is_convertible_v<U*, T*> Ref(Ref<U>&& other)
  noexcept : object_(other.detach()) {}
  // NOLINTEND(google-explicit-constructor)
  ~Ref() { release(); }
  /// The new value is in place before the old one is dropped, as in CPython's assignment.
  Ref& operator=(const Ref& other) {  // NOLINT(bugprone-unhandled-self-assignment): by a copy
    Ref copy(other);
    std::swap(object_, copy.object_);
    return *this;
  }
  Ref& operator=(Ref&& other) noexcept {
    Ref moved(std::move(other));
    std::swap(object_, moved.object_);
    return *this;
  }
  void reset() { Ref().swap(*this); }
  /// Takes over a count that somebody gave away with detach().
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  void swap(Ref& other) noexcept { std::swap(object_, other.object_); }
  /// Gives the pointer away without dropping the count.
  [[nodiscard]] T* detach() { return std::exchange(object_, nullptr); }

  [[nodiscard]] T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  void retain() {
    if (object_ != nullptr) ++counter(object_);
  }
  void release() {
    if (object_ != nullptr && --counter(object_) == 0) delete std::exchange(object_, nullptr);
  }
  template <class U>
  static std::uint32_t& counter(U* object) {
    return count_of(*object);
  }
  template <class U>
  static std::uint32_t& count_of(RefCounted<U>& counted) {
    return counted.count_;
  }
  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace tidemark
