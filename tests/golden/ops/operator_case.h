#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/device_spec.h"
#include "sim/base/release.h"

namespace tidemark {

/// One operator or module as text that PyTorch runs as well.
struct OperatorCase {
  std::string group;
  std::string name;
  std::string shape;
  std::string dtype;  ///< fp32, fp16, bf16, fp64; amp-bf16, amp-fp16
  std::string setup;
  std::string forward;  ///< the body of a function
  std::string leaves;
  bool no_grad = false;
  bool cudnn = true;

  [[nodiscard]] std::string title() const { return name + " | " + dtype + " | " + shape; }
};

/// Events by run: "forward +4096 -0 backward +512": requests in bytes, releases by the number of
/// the request within the run. "-0~": one of the releases when autocast drops its weight cache,
/// which PyTorch does in the order of a hash table.
using OperatorEvents = std::map<std::string, std::string>;

/// The recorded events with each run of releases that have no order in the order of the simulated
/// ones, where both name the same requests.
std::string with_order_of(const std::string& recorded, const std::string& simulated);

/// The cases of a YAML file. Errors: IoError, InputError.
std::vector<OperatorCase> read_operator_cases(const std::string& path, const std::string& group);

/// The recorded events by group, name, dtype and shape, joined by tabs. Errors: IoError.
std::map<std::string, OperatorEvents> read_operator_events(const std::string& path);
std::string key_of(const OperatorCase& c);

/// The program that Tidemark and PyTorch run. `folder` holds leaves.py and steps.py.
std::string program_text(const OperatorCase& c, const std::string& folder);

/// Where a case runs.
struct OperatorRunner {
  std::string folder;  ///< of leaves.py and steps.py
  std::string models;  ///< of the zoo
  DeviceSpec device;
  Wheel wheel;
  std::set<std::string>* operators = nullptr;  ///< takes those that a case calls; null: nobody asks
};
/// Runs a case. Errors: InputError.
OperatorEvents run_operator_case(const OperatorCase& c, const OperatorRunner& runner);

}  // namespace tidemark
