#include "validation/cuda/open_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <sys/stat.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace harness {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// "/x" of "/x/bin/python3".
std::string prefix_of(const std::string& program) {
  const std::size_t slash = program.rfind("/bin/");
  return slash == std::string::npos ? "" : program.substr(0, slash);
}

/// Folders that hold lib/python3.N/site-packages.
std::vector<std::string> prefixes() {
  std::vector<std::string> found;
  if (const std::string torch = variable("TIDEMARK_TORCH"); !torch.empty()) {
    found.push_back(prefix_of(torch));
    found.push_back(torch + "/v");  // as validation/pretend/environment.py makes it
  }
  found.push_back(variable("VIRTUAL_ENV"));
  found.push_back(variable("CONDA_PREFIX"));
  std::istringstream path(variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    struct stat about {};
    const std::string python = folder + "/python3";
    if (stat(python.c_str(), &about) != 0) continue;
    found.push_back(prefix_of(python));
    break;
  }
  found.push_back(variable("HOME") + "/.local");
  return found;
}

/// Whether a folder of LD_LIBRARY_PATH has it.
bool is_named_folder_s(const char* name) {
  std::istringstream folders(variable("LD_LIBRARY_PATH"));
  struct stat about {};
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (stat((folder + "/" + name).c_str(), &about) == 0) return true;
  }
  return false;
}

}  // namespace

void* open_library(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (!is_named_folder_s(name)) continue;
    if (void* library = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return library;
  }
  for (const std::string& prefix : prefixes()) {
    if (prefix.empty()) continue;
    for (const char* name : names) {
      const std::string pattern = prefix + "/lib/python3*/*-packages/nvidia/*/lib/" + name;
      glob_t matches{};
      void* library = nullptr;
      if (glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
        for (std::size_t i = 0; i < matches.gl_pathc && library == nullptr; ++i)
          library = dlopen(matches.gl_pathv[i], RTLD_NOW | RTLD_GLOBAL);
      }
      globfree(&matches);
      if (library != nullptr) return library;
    }
  }
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return library;
  }
  return nullptr;
}

}  // namespace harness
