#include <fmt/format.h>

#include "sim/lang/builtins/library.h"
#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/importer.h"

/// Built-in functions that run text, or say what names stand where they are called.
namespace tidemark::lang {

namespace {

/// What a text is run in: a module, whose names are put back where they came from.
class Scene {
 public:
  Scene(Interp& in, const Value& globals, const Value& locals) : in_(in) {
    const Frame& frame = *in.current_frame();
    const bool has_globals = !globals.empty() && !globals.is_none();
    const bool has_locals = !locals.empty() && !locals.is_none();
    if (!has_globals) {
      if (has_locals) {
        kept_ = locals;
      } else if (frame.code->form != Code::Form::kModule) {
        kept_ = locals_of(in, frame);
      }
      module_ = Ref<Module>(frame.globals);
    } else {
      // globals() itself?
      module_ = in.find_attr(globals, in.intern("_owner")).ref<Module>();
      if (!module_) kept_ = globals;
      if (has_locals && !locals.same_as(globals)) kept_ = locals;
    }
    if (kept_.empty()) return;
    const Ref<Module> around = module_;
    module_ = make_ref<Module>(in.heap(), around ? around->name : std::string("builtins"));
    if (around) {
      for (const AttrMap::Entry& entry : around->entries()) {
        if (!entry.value.empty()) module_->set(entry.name, entry.value);
      }
      module_->make_missing = [around](Interp& interp, Module&, Name name) {
        return interp.find_attr(around, name);
      };
    } else if (!kept_.same_as(globals)) {
      fill(globals);
    }
    fill(kept_);
    before_ = module_->entries();
  }
  [[nodiscard]] Module& module() const { return *module_; }
  /// What the text has bound goes back.
  void keep() {
    if (kept_.empty()) return;
    const std::vector<AttrMap::Entry> after = module_->entries();
    for (std::size_t i = 0; i < after.size(); ++i) {
      const bool is_same = i < before_.size() && before_[i].value.same_as(after[i].value);
      if (!is_same && !after[i].value.empty())
        in_.set_item(kept_, in_.str(std::string(in_.text(after[i].name))), after[i].value);
    }
  }

 private:
  void fill(const Value& from) {
    for (const Value& key : in_.unpack(from))
      module_->set(in_.intern(in_.to_str(key)), in_.get_item(from, key));
  }

  Interp& in_;
  Ref<Module> module_;
  Value kept_;  // Empty: the module's own names are meant
  std::vector<AttrMap::Entry> before_;
};

struct Text {
  std::string text;
  std::string name;
};

/// What is to be run: a text, or what compile() gave.
Text text_of(Interp& in, const Value& source, std::string_view function) {
  if (const Str* text = plain_of(source).as<Str>()) return {text->text(), "<string>"};
  const Value text = in.find_attr(source, in.intern("_text"));
  if (text.as<Str>() == nullptr) {
    in.type_error(fmt::format("{}() arg 1 must be a string, bytes or code object", function));
  }
  return {text.as<Str>()->text(), in.to_str(in.get_attr(source, in.intern("co_filename")))};
}

std::shared_ptr<const SourceText> source_of(Text text) {
  return std::make_shared<const SourceText>(SourceText{std::move(text.name), std::move(text.text)});
}

}  // namespace

void add_code_functions(Interp& in) {
  define(in, "globals()", [](Interp& interp, Arguments&) {
    return globals_of(interp, *interp.current_frame()->globals);
  });
  define(in, "locals()",
         [](Interp& interp, Arguments&) { return locals_of(interp, *interp.current_frame()); });
  define(in, "vars(object=..., /)", [](Interp& interp, Arguments& args) {
    if (args[0].empty()) return locals_of(interp, *interp.current_frame());
    Value found = interp.find_attr(args[0], known(name::kDict));
    if (found.empty()) interp.type_error("vars() argument must have __dict__ attribute");
    return found;
  });
  define(in, "exec(source, globals=None, locals=None, /)", [](Interp& interp, Arguments& args) {
    Scene scene(interp, args[1], args[2]);
    interp.run_in(scene.module(), source_of(text_of(interp, args[0], "exec")));
    scene.keep();
    return Value::none();
  });
  define(in, "eval(source, globals=None, locals=None, /)", [](Interp& interp, Arguments& args) {
    const Scene scene(interp, args[1], args[2]);
    Text text = text_of(interp, args[0], "eval");
    text.text.erase(0, text.text.find_first_not_of(" \t\n"));
    return interp.evaluate(scene.module(), source_of(std::move(text)));
  });
  define(in, "compile(source, filename, mode, flags=0, dont_inherit=False, optimize=-1)",
         [](Interp& interp, Arguments& args) {
           const Value make = interp.get_attr(interp.import("_code"), interp.intern("Code"));
           return interp.call(make, {args[0], args[1], args[2]});
         });
  define(in, "__import__(name, globals=None, locals=None, fromlist=(), level=0)",
         [](Interp& interp, Arguments& args) {
           const Value import =
               interp.get_attr(interp.import("importlib"), interp.intern("__import__"));
           const Value globals =
               args[1].is_none() ? globals_of(interp, *interp.current_frame()->globals) : args[1];
           return interp.call(import, {args[0], globals, args[2], args[3], args[4]});
         });
}

}  // namespace tidemark::lang
