#include <functional>

#include "sim/lang/builtins/library.h"
#include "sim/lang/imports/host_view.h"
#include "sim/lang/runtime/importer.h"
#include "sim/lang/runtime/rank_value.h"

/// What the library's files need of the import system.
namespace tidemark::lang {

namespace {

Value texts(Interp& in, const std::vector<std::string>& from) {
  std::vector<Value> out;
  out.reserve(from.size());
  for (const std::string& text : from) out.push_back(in.str(text));
  return in.list(std::move(out));
}

}  // namespace

void add_import_functions(Interp& in, Module& module) {
  define(in, module, "modules()",
         [](Interp& interp, Arguments&) -> Value { return interp.importer().table(); });
  define(in, module, "search_path()",
         [](Interp& interp, Arguments&) -> Value { return interp.importer().path(); });
  define(in, module, "arguments()",
         [](Interp& interp, Arguments&) { return texts(interp, interp.options().arguments); });
  define(in, module, "environment()", [](Interp& interp, Arguments&) -> Value {
    const Ref<Dict> out = interp.dict();
    for (const auto& [name, value] : interp.options().environment)
      out->table.set(interp, interp.str(name), interp.str(value));
    if (Alike* alike = alike_of(interp)) {
      const Rank& job = alike->job();
      const auto add = [&](std::string_view name, const std::function<std::int64_t(int)>& number) {
        out->table.set(interp, interp.str(std::string(name)), alike->texts(interp, number));
      };
      add("RANK", [](int rank) { return rank; });
      add("LOCAL_RANK", [&](int rank) { return rank % job.per_node; });
      add("GROUP_RANK", [&](int rank) { return rank / job.per_node; });
    }
    return out;
  });
  define(in, module, "import_module(name)",
         [](Interp& interp, Arguments& args) { return interp.importer().import(args.text(0)); });
  // (its file or None, whether it is a package, its folders); None: it is nowhere.
  define(in, module, "find_module(name)", [](Interp& interp, Arguments& args) {
    const ModuleSpec found = interp.importer().find(args.text(0));
    if (found.name.empty()) return Value::none();
    return interp.tuple({found.origin.empty() ? Value::none() : interp.str(found.origin),
                         Value::boolean(found.is_package), texts(interp, found.folders)});
  });
  define(in, module, "run_file(module, text, path)", [](Interp& interp, Arguments& args) {
    interp.run_in(args.object<Module>(0, "module"),
                  std::make_shared<const SourceText>(SourceText{args.text(2), args.text(1)}));
    return Value::none();
  });
}

}  // namespace tidemark::lang
