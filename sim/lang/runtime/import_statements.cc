#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/importer.h"

/// import and from … import.
namespace tidemark::lang {

void Evaluator::import_stmt(const ImportStmt* node) {
  for (const ImportedName& name : node->names) {
    frame_.at = name.place;
    const std::string_view path = in_.text(name.module);
    Value module = in_.importer().import(path);
    const std::size_t dot = path.find('.');
    if (dot != std::string_view::npos && name.whole) {
      // import a.b as c: the attribute b of a, which need not be the module.
      const std::size_t last = path.rfind('.');
      module = in_.importer().import_member(in_.importer().import(path.substr(0, last)),
                                            in_.intern(path.substr(last + 1)));
    } else if (dot != std::string_view::npos) {
      module = in_.importer().import(path.substr(0, dot));
    }
    store(name.target, std::move(module));
  }
}

void Evaluator::import_from_stmt(const ImportFromStmt* node) {
  frame_.at = node->place;
  Importer& importer = in_.importer();
  const std::string path =
      importer.absolute_name(*frame_.globals, in_.text(node->module), node->level);
  // A file that is run by itself takes its neighbours as they are: from . import neighbour.
  const Value module = path.empty() ? Value() : importer.import(path);
  if (node->star) {
    import_all(module);
    return;
  }
  for (const ImportedName& name : node->names) {
    frame_.at = name.place;
    store(name.target, module.empty() ? importer.import(in_.text(name.name))
                                      : importer.import_member(module, name.name, frame_.globals));
  }
}

void Evaluator::import_all(const Value& from) {
  const auto bind = [&](Name name) {
    frame_.globals->set(name, in_.importer().import_member(from, name, frame_.globals));
  };
  if (const Value listed = in_.find_attr(from, known(name::kAll)); !listed.empty()) {
    for (const Value& name : in_.unpack(listed)) bind(in_.intern(in_.to_str(name)));
    return;
  }
  const auto* module = from.as<Module>();
  if (module == nullptr) {  // an object in a module's place
    for (const Value& name : in_.unpack(in_.get_attr(from, known(name::kDict)))) {
      if (!in_.to_str(name).starts_with('_')) bind(in_.intern(in_.to_str(name)));
    }
    return;
  }
  if (module->list_missing) {  // all that it has not made yet
    for (const std::string_view name : module->list_missing())
      in_.find_attr(from, in_.intern(name));
  }
  const std::vector<AttrMap::Entry> entries = module->entries();
  for (const AttrMap::Entry& entry : entries) {
    if (!entry.value.empty() && !in_.text(entry.name).starts_with('_')) bind(entry.name);
  }
}

}  // namespace tidemark::lang
