#include <memory>

#include "sim/lang/builtins/library.h"

/// Weak references. An object that is referred to so holds a guard among its attributes, under a
/// name that no program can write; the guard goes when the object does, and takes the reference
/// with it. What has no attributes is referred to strongly: modules, which live as long as a run.
namespace tidemark::lang {

namespace {

constexpr std::string_view kGuardName = "<weak>";

/// Where the object is while it lives.
struct Place {
  Object* object = nullptr;
};

class Guard final : public Instance {
 public:
  Guard(Interp& interp, std::shared_ptr<Place> place)
      : Instance(interp.heap(), interp.classes().object), place_(std::move(place)) {}
  ~Guard() override { place_->object = nullptr; }
  [[nodiscard]] const std::shared_ptr<Place>& place() const { return place_; }
  // A copy of the object is another object, to which nothing refers.
  Value deep_copy(Interp& /*interp*/, DeepCopies& /*copies*/) override { return Value::none(); }

 private:
  std::shared_ptr<Place> place_;
};

AttrMap* attributes_of(Object& object) {
  if (Instance::is(object)) return &static_cast<Instance&>(object).attrs();
  if (object.kind() == Kind::kFunction) return &static_cast<Function&>(object).attrs;
  if (object.kind() == Kind::kClass) return &static_cast<ClassObject&>(object).attrs;
  return nullptr;
}

std::shared_ptr<Place> place_of(Interp& in, Object& object, AttrMap& attributes) {
  const Name name = in.intern(kGuardName);
  if (const Value* known_guard = attributes.find(name)) {
    if (const auto* guard = dynamic_cast<const Guard*>(known_guard->object()))
      return guard->place();
  }
  auto place = std::make_shared<Place>();
  place->object = &object;
  attributes.set(name, make_ref<Guard>(in, place));
  return place;
}

}  // namespace

void add_weak_references(Interp& in, Module& module) {
  // A function that gives the object, None once it is gone.
  define(in, module, "weak_reference(object)", [](Interp& interp, Arguments& args) -> Value {
    if (!args[0].is_object()) interp.type_error("cannot create a weak reference to this object");
    Object& object = *args[0].object();
    AttrMap* attributes = attributes_of(object);
    if (attributes == nullptr) {
      return interp.raw_function("reference",
                                 [held = args[0]](Interp&, CallArgs&) { return held; });
    }
    return interp.raw_function(
        "reference", [place = place_of(interp, object, *attributes)](Interp&, CallArgs&) -> Value {
          return place->object == nullptr ? Value::none() : Value(Ref<Object>(place->object));
        });
  });
}

}  // namespace tidemark::lang
