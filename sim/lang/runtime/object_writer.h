#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/state_image.h"
#include "sim/lang/runtime/host.h"
#include "sim/lang/runtime/interp.h"

namespace tidemark::lang {

/// Writes what a program's variables lead to into an image, each object once, in the order in which
/// they are first met. A host floor derives from it and adds its own objects.
class ObjectWriter {
 public:
  ObjectWriter(Interp& interp, StateImage& image) : interp_(interp), image_(image) {}
  virtual ~ObjectWriter() = default;
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  /// Modules, the variables of all running functions, and what is being handled; `range` is left
  /// out: the loop that asks counts it itself. The value of the loop's variable, `*variable`, too.
  void write_program(const Iterator& range, const Value& variable);
  void value(const Value& value);
  /// Writes the contents of all that was met. To be called last.
  void finish();
  /// The functions that were met.
  [[nodiscard]] const std::vector<const Function*>& functions() const { return functions_; }

 protected:
  StateImage& image() { return image_; }
  /// Mentions a thing of the host's, whose contents host_thing() writes later.
  template <class T>
  void thing(const T* what, std::uint8_t kind) {
    if (what == nullptr) {
      image_.put(0);
    } else if (image_.mention(what)) {
      pending_.emplace_back(what, kind);
    }
  }
  void attributes(const AttrMap& map);
  /// What a host object has beside class and attributes.
  virtual void host_object(const Instance& object) = 0;
  virtual void host_thing(const void* what, std::uint8_t kind) = 0;

 private:
  static constexpr std::uint8_t kObject = 255;
  void object(const Object* what);
  void contents(const Object& object);
  void container(const Container& container);
  void table(const ValueTable& table);
  void values(const std::vector<Value>& values);
  void iterator(const Iterator& iterator);

  Interp& interp_;
  StateImage& image_;
  std::vector<std::pair<const void*, std::uint8_t>> pending_;
  std::vector<const Function*> functions_;
  const Iterator* range_ = nullptr;
  const Value* variable_ = nullptr;
};

}  // namespace tidemark::lang
