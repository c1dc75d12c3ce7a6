#include "sim/lang/runtime/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/lang/imports/host_view.h"
#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/library_loader.h"
#include "sim/lang/runtime/notes.h"

namespace tidemark::lang {

namespace {

constexpr std::string_view kPackages =
    "give the folder that it is installed in (--packages DIR), declare what it computes as a "
    "custom op (docs/scenario.md, 'Custom ops'), or record the run (tidemark record)";

/// Whether the code that asks for a module is the program's own, not the library's or a package's.
bool asked_by_program(const Interp& in, const std::vector<std::string>& packages) {
  const Frame* frame = users_frame(in);
  if (frame == nullptr || frame != in.current_frame()) return false;
  const std::string_view file = view(frame->code->file->name);
  return std::none_of(packages.begin(), packages.end(),
                      [&](const std::string& folder) { return file.starts_with(folder); });
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

std::string_view parent_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

/// Empty: there is no such attribute, or code says so by an AttributeError.
Value find_quietly(Interp& in, const Value& object, Name name) {
  try {
    return in.find_attr(object, name);
  } catch (const Raised& raised) {
    if (!raised.exception->type().derives_from(*in.classes().attribute_error)) throw;
    return {};
  }
}

}  // namespace

Importer::Importer(Interp& interp, Sources sources)
    : in_(interp), sources_(std::move(sources)), table_(interp.dict()) {
  std::vector<Value> folders;
  for (const std::string& folder : sources_.path) folders.push_back(in_.str(folder));
  path_ = make_ref<List>(in_.heap(), std::move(folders));
}

void Importer::clear() {
  for (const Ref<Module>& module : order_) module->clear();
  order_.clear();
  placeholders_.clear();
  table_->clear();
  path_->clear();
  host_modules_.clear();
}

void Importer::add_host_module(std::string name, std::function<void(Interp&, Module&)> fill) {
  host_modules_[std::move(name)] = std::move(fill);
}

bool Importer::is_own(const std::string& name) const {
  return host_modules_.contains(name) || sources_.library.find(name) != nullptr;
}

Value Importer::find_loaded(const std::string& name) {
  if (const Value* found = table_->table.find(in_, in_.text_value(in_.intern(name)))) {
    if (!found->is_none()) return *found;
    in_.raise(*in_.classes().module_not_found_error,
              fmt::format("import of {} halted; None in sys.modules", name));
  }
  if (asking_ > 0) return {};
  const auto placeholder = placeholders_.find(name);
  return placeholder == placeholders_.end() ? Value() : Value(placeholder->second);
}

Value Importer::import(std::string_view dotted) {
  const std::string name(dotted);
  if (Value found = find_loaded(name); !found.empty()) return found;
  in_.check_stack();
  Value parent;
  if (const std::string_view before = parent_of(name); !before.empty()) {
    parent = import(before);
    if (Value found = find_loaded(name); !found.empty()) return found;
  }
  Value module = load(name, parent);
  if (module.empty()) not_found(name, parent);
  if (parent.empty()) return module;
  // A package of the library that has the name of one of its modules takes it from there.
  const Name last = in_.intern(last_part(name));
  const auto* package = parent.as<Module>();
  if (package == nullptr || package->file == nullptr || package->file->find(last) == nullptr)
    in_.set_attr(parent, last, module);
  return module;
}

Value Importer::load_by_finders(const std::string& name, const Value& parent, bool ahead) {
  // A program that has not asked for the list has none of its own in it.
  const Value* sys = table_->table.find(in_, in_.text_value(in_.intern("sys")));
  const auto* module = sys == nullptr ? nullptr : sys->as<Module>();
  const Value* finders = module == nullptr ? nullptr : module->find(in_.intern("meta_path"));
  if (finders == nullptr || finders->as<List>() == nullptr) return {};
  const std::size_t count = finders->as<List>()->items.size();
  if (count < 2) return {};
  const Value list = *finders;
  const Value load = in_.get_attr(import("importlib._machinery"), in_.intern("load_by_finders"));
  Value folders = parent.empty() ? Value::none() : in_.find_attr(parent, in_.intern("__path__"));
  if (folders.empty()) folders = Value::none();
  Value found = in_.call(load, {in_.str(name), std::move(folders), list, Value::boolean(ahead)});
  return found.is_none() ? Value() : found;
}

bool Importer::is_installed(const std::string& file) const {
  return std::any_of(
      sources_.packages.begin(), sources_.packages.end(),
      [&](const std::string& folder) { return file.starts_with(path_in(folder, "")); });
}

namespace {

/// Whether a module is of sim/library/outside: the second of the roots, as library_compiler.cc has
/// them.
bool is_outside(const LibraryRoots& library, const std::string& name) {
  return library.roots.size() > 1 && library.roots[1].find(name) != nullptr;
}

}  // namespace

Value Importer::load(const std::string& name, const Value& parent) {
  if (Value found = load_by_finders(name, parent, true); !found.empty()) return found;
  const LibraryModule* file = sources_.library.find(name);
  const bool stands_in = file != nullptr && sources_.library.stands_in(name);
  const bool is_own = host_modules_.contains(name) || (file != nullptr && !stands_in);
  if (is_own && parent.empty() && is_outside(sources_.library, name)) {
    // A package of the program's own bears the name of one that others publish.
    ModulePlace own = find_in_folders(name, parent);
    const bool is_module =
        own.kind == ModulePlace::Kind::kModule || own.kind == ModulePlace::Kind::kPackage;
    if (is_module && !is_installed(own.file)) return load_place(name, std::move(own));
  }
  if (is_own) return load_own(name, file);
  ModulePlace place = find_in_folders(name, parent);
  if (place.kind != ModulePlace::Kind::kNowhere && place.kind != ModulePlace::Kind::kCompiled)
    return load_place(name, std::move(place));
  if (stands_in) return load_own(name, file);
  if (place.kind == ModulePlace::Kind::kCompiled) {
    const Ref<Module> module = placeholder(name, "is compiled code, which is not read");
    module->set(known(name::kFile), in_.str(place.file));
    enter(name, module);
    return module;
  }
  if (Value found = load_by_finders(name, parent, false); !found.empty()) return found;
  const auto* package = parent.as<Module>();
  const bool in_placeholder = package != nullptr && placeholders_.contains(package->name);
  if (!sources_.makes_placeholders || asking_ > 0 || (!parent.empty() && !in_placeholder))
    return {};
  const std::string top = name.substr(0, name.find('.'));
  std::string why = fmt::format("cannot be used: there is no package '{}' here", top);
  if (const std::string closed = closed_folder(); !closed.empty()) why += " (" + closed + ")";
  return placeholders_[name] = placeholder(name, std::move(why));
}

std::string Importer::closed_folder() {
  if (!sources_.files) return {};
  for (const std::string& folder : texts_of(path_)) {
    if (std::string why = sources_.files->closed(folder); !why.empty()) return why;
  }
  return {};
}

ModulePlace Importer::find_in_folders(const std::string& name, const Value& parent) {
  if (!sources_.files) return {};
  Value folders = path_;
  if (!parent.empty()) folders = in_.find_attr(parent, in_.intern("__path__"));
  if (folders.empty()) return {};
  std::vector<std::string> where = texts_of(folders);
  const auto* package = parent.as<Module>();
  if (where.empty() && package != nullptr && package->origin == Module::Origin::kOwn) {
    // A folder of the program's that bears the name of a package that it does not mean.
    const ModulePlace own = find_module(*sources_.files, texts_of(path_), last_part(package->name));
    if (own.kind == ModulePlace::Kind::kFolders) where = own.folders;
  }
  return find_module(*sources_.files, where, last_part(name));
}

std::vector<std::string> Importer::texts_of(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& each : in_.unpack(list)) {
    // A folder may be a pathlib.Path, which Python passes over.
    if (const Str* text = plain_of(each).as<Str>()) texts.push_back(text->text());
  }
  return texts;
}

void Importer::enter(const std::string& name, const Ref<Module>& module) {
  table_->table.set(in_, in_.text_value(in_.intern(name)), module);
  order_.push_back(module);
}

Value Importer::load_own(const std::string& name, const LibraryModule* file) {
  const Ref<Module> module = file == nullptr ? make_ref<Module>(in_.heap(), name)
                                             : make_ref<Module>(in_.heap(), name, file->globals);
  module->origin = Module::Origin::kOwn;
  module->set(known(name::kName), in_.str(name));
  enter(name, module);
  if (const auto host = host_modules_.find(name); host != host_modules_.end()) {
    const auto fill = host->second;
    fill(in_, *module);
  }
  if (file != nullptr) load_lazily(in_, *module, *file);
  return module;
}

Value Importer::load_place(const std::string& name, ModulePlace place) {
  const Ref<Module> module = make_ref<Module>(in_.heap(), name);
  module->make_missing = [](Interp& in, Module& own, Name wanted) {
    return in.importer().module_fact(own, wanted);
  };
  module->set(known(name::kName), in_.str(name));
  if (place.kind != ModulePlace::Kind::kModule) {
    std::vector<Value> folders;
    for (const std::string& folder : place.folders) folders.push_back(in_.str(folder));
    module->set(in_.intern("__path__"), in_.list(std::move(folders)));
  }
  const std::string& where = place.file.empty() ? place.folders.front() : place.file;
  module->origin = is_installed(where) ? Module::Origin::kInstalled : Module::Origin::kText;
  enter(name, module);
  if (place.file.empty()) return module;
  module->set(known(name::kFile),
              in_.str(whole_path(in_.options().imports.files.get(), place.file)));
  sources_.files->note_module(place.file);
  std::shared_ptr<const SourceText> text;
  try {
    text = sources_.files->read(place.file);
  } catch (const InputError& error) {
    in_.refuse(error.problems().front().message, error.problems().front().hint);
  }
  if (text == nullptr) in_.refuse(fmt::format("'{}' is no file that can be read", place.file));
  run_in(name, module, std::move(text));
  // A module may have put another into its place.
  const Value* now = table_->table.find(in_, in_.text_value(in_.intern(name)));
  return now == nullptr ? Value(module) : *now;
}

void Importer::run_in(const std::string& name, const Ref<Module>& module,
                      std::shared_ptr<const SourceText> source) {
  loading_.push_back(module.get());
  const std::uint32_t outside = std::exchange(asking_outside_, asking_);
  try {
    in_.run_file(*module, std::move(source));
  } catch (...) {
    loading_.pop_back();
    asking_outside_ = outside;
    table_->table.remove(in_, in_.text_value(in_.intern(name)));
    throw;
  }
  loading_.pop_back();
  asking_outside_ = outside;
}

Ref<Module> Importer::run_text(std::shared_ptr<const SourceText> source, const std::string& name) {
  Ref<Module> module = make_ref<Module>(in_.heap(), name);
  module->set(known(name::kName), in_.str(name));
  module->set(known(name::kFile),
              in_.str(whole_path(in_.options().imports.files.get(), source->name)));
  enter(name, module);
  run_in(name, module, std::move(source));
  return module;
}

Ref<Module> Importer::placeholder(const std::string& name, std::string why) {
  Ref<Module> module = make_ref<Module>(in_.heap(), name);
  module->set(known(name::kName), in_.str(name));
  module->make_missing = [why = std::move(why)](Interp& in, Module& own, Name wanted) {
    if (in.text(wanted).starts_with("__")) return in.importer().module_fact(own, wanted);
    return make_placeholder(in, fmt::format("{}.{}", own.name, in.text(wanted)), why);
  };
  return module;
}

Value make_placeholder(Interp& in, const std::string& name, const std::string& why) {
  return make_placeholder(in, name, why, std::string(kPackages));
}

void Importer::not_found(const std::string& name, const Value& parent) {
  std::vector<std::string> candidates;
  if (parent.empty()) {
    for (const auto& [known_name, fill] : host_modules_) candidates.push_back(known_name);
    for (const std::string& folder : texts_of(path_)) {
      if (!sources_.files) break;
      for (const std::string& entry : sources_.files->list(folder))
        candidates.push_back(entry.substr(0, entry.find_first_of("./")));
    }
  }
  for (const Library& root : sources_.library.roots) {
    for (const LibraryModule& each : root.modules) candidates.emplace_back(view(each.name));
  }
  std::sort(candidates.begin(), candidates.end());
  std::string message = fmt::format("No module named '{}'", name);
  const auto* package = parent.as<Module>();
  if (package != nullptr && package->origin != Module::Origin::kOwn &&
      in_.find_attr(parent, in_.intern("__path__")).empty()) {
    message += fmt::format("; '{}' is not a package", package->name);
  }
  const Ref<ExceptionObject> error =
      in_.make_exception(*in_.classes().module_not_found_error, {in_.str(std::move(message))});
  error->set_own(in_.intern("name"), in_.str(name));
  if (asking_ > 0 && asked_by_program(in_, sources_.packages))
    note(in_, fmt::format("{} is not here: the program goes on without it", name));
  error->hint = did_you_mean(name, {candidates.begin(), candidates.end()});
  in_.raise(error);
}

Value Importer::import_member(const Value& module, Name name, const Module* by) {
  if (Value found = find_quietly(in_, module, name); !found.empty()) return found;
  const auto* plain = module.as<Module>();
  std::string module_name;
  if (plain != nullptr) {
    module_name = plain->name;
  } else if (const Value own = in_.find_attr(module, known(name::kName));
             own.as<Str>() != nullptr) {
    module_name = own.as<Str>()->text();
  }
  const std::string whole = fmt::format("{}.{}", module_name, in_.text(name));
  if (!find_quietly(in_, module, in_.intern("__path__")).empty()) {
    if (Value loaded = find_loaded(whole); !loaded.empty()) return loaded;
    if (Value made = load(whole, module); !made.empty()) {
      in_.set_attr(module, name, made);
      return made;
    }
  }
  if (Value loaded = find_loaded(whole); !loaded.empty()) return loaded;
  const bool is_own = plain != nullptr && plain->origin == Module::Origin::kOwn;
  // What an installed package takes of torch is there, if not here; its own text may ask.
  if (is_own && by != nullptr && by->origin == Module::Origin::kInstalled &&
      asking_ == asking_outside_)
    return make_later(in_, whole);
  std::vector<std::string_view> candidates;
  if (plain != nullptr) {
    for (const AttrMap::Entry& entry : plain->entries()) {
      if (!entry.value.empty()) candidates.push_back(in_.text(entry.name));
    }
    if (plain->list_missing) {
      for (const std::string_view candidate : plain->list_missing())
        candidates.push_back(candidate);
    }
  }
  const Value file = is_own ? Value() : in_.find_attr(module, known(name::kFile));
  const bool is_partial =
      plain != nullptr && std::find(loading_.begin(), loading_.end(), plain) != loading_.end();
  std::string message = fmt::format("cannot import name '{}' from {}'{}'", in_.text(name),
                                    is_partial ? "partially initialized module " : "", module_name);
  if (is_partial) message += " (most likely due to a circular import)";
  if (file.as<Str>() != nullptr) message += fmt::format(" ({})", file.as<Str>()->text());
  const Ref<ExceptionObject> error =
      in_.make_exception(*in_.classes().import_error, {in_.str(std::move(message))});
  error->set_own(in_.intern("name"), in_.str(module_name));
  error->hint = did_you_mean(in_.text(name), candidates);
  const auto& hint_of_missing = in_.options().missing_hint;
  const std::string more = is_own && hint_of_missing ? hint_of_missing(module) : std::string();
  if (!more.empty()) error->hint += (error->hint.empty() ? "" : "; ") + more;
  in_.raise(error);
}

std::string Importer::absolute_name(Module& from, std::string_view name, std::uint32_t level) {
  if (level == 0) return std::string(name);
  std::string package;
  const Value* given = from.find(in_.intern("__package__"));
  if (given != nullptr && given->as<Str>() != nullptr) {
    package = given->as<Str>()->text();
  } else {
    const Value* own = from.find(known(name::kName));
    const std::string whole =
        own != nullptr && own->as<Str>() != nullptr ? own->as<Str>()->text() : from.name;
    const bool is_package = from.find(in_.intern("__path__")) != nullptr;
    package = is_package ? whole : std::string(parent_of(whole));
  }
  // A file that is run by itself means its neighbours.
  if (package.empty() && level == 1) return std::string(name);
  for (std::uint32_t i = 1; i < level && !package.empty(); ++i)
    package = std::string(parent_of(package));
  if (package.empty())
    in_.raise(*in_.classes().import_error, "attempted relative import beyond top-level package");
  return name.empty() ? package : fmt::format("{}.{}", package, name);
}

ModuleSpec Importer::find(std::string_view dotted) {
  const std::string name(dotted);
  if (const LibraryModule* file = sources_.library.find(name);
      host_modules_.contains(name) || (file != nullptr && !sources_.library.stands_in(name))) {
    return {name, {}, sources_.library.has_modules_of(name), {}};
  }
  Value parent;
  if (const std::string_view before = parent_of(name); !before.empty()) {
    const Asking asking(*this);
    parent = import(before);
  }
  const ModulePlace place = find_in_folders(name, parent);
  if (place.kind == ModulePlace::Kind::kNowhere) {
    if (sources_.library.find(name) == nullptr) return {};
    return {name, {}, sources_.library.has_modules_of(name), {}};
  }
  return {name, place.file, !place.folders.empty(), place.folders};
}

Value Importer::module_fact(Module& module, Name name) {
  const std::string_view text = in_.text(name);
  if (text == "__package__") {
    const bool is_package = !in_.find_attr(Ref<Module>(&module), in_.intern("__path__")).empty();
    return in_.str(is_package ? module.name : std::string(parent_of(module.name)));
  }
  if (text == "__path__" && module.origin == Module::Origin::kOwn)
    return sources_.library.has_modules_of(module.name) ? in_.list({}) : Value();
  if (text == "__loader__" || text == "__cached__") return Value::none();
  if (text == "__spec__") {
    const Value make = in_.get_attr(in_.import("importlib._machinery"), in_.intern("spec_of"));
    return in_.call(make, {Ref<Module>(&module)});
  }
  return {};
}

}  // namespace tidemark::lang
