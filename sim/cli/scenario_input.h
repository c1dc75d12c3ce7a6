#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/problem.h"
#include "sim/cli/command.h"
#include "sim/report/results_report.h"
#include "sim/run/overrides.h"

namespace tidemark::cli {

/// The values of --set. Errors: InputError with all that have no '='.
std::vector<Override> parse_overrides(const std::vector<std::string>& texts);

/// The folders of --packages, absolute. The run may read them from then on. Errors: UsageError for
/// what is no folder.
std::vector<std::string> given_packages(const Arguments& args);

/// What --packages, --device, --event-policy, --compile, --assume, --set, --env, --world, --rank,
/// --nproc-per-node and --nnodes ask for, in this order.
std::vector<Override> scenario_overrides(const Arguments& args);
/// The same, and what a script's arguments behind its name ask for.
/// Errors: InputError where what runs is no script.
std::vector<Override> script_overrides(const Arguments& args);

/// Where imports look, and what a script is given.
inline constexpr OptionSpec kPackagesOption{
    "packages", "FOLDER", "a folder of installed packages, or a checkout", "", true};
inline constexpr OptionSpec kEnvOption{"env", "NAME=VALUE", "what os.environ has for a script", "",
                                       true};

/// Where a long script ends.
inline constexpr OptionSpec kStepsOption{"steps", "N", "end a script after N optimizer steps", ""};
inline constexpr OptionSpec kUntilOption{
    "until", "TIME", "end a script at a simulated time: 250ms, 90s, 5min, 2h", ""};

/// The option that every command on scenarios has beside --set.
inline constexpr OptionSpec kDeviceOption{
    "device", "ID", "the device, whatever the scenario says; a script has none", ""};

/// The option of commands that run scenarios on several streams.
inline constexpr OptionSpec kEventPolicyOption{
    "event-policy", "POLICY", "when other streams' work ends: simulated, ready, sync or lag:N", ""};

/// What values that nobody knows are taken for.
inline constexpr OptionSpec kAssumeOption{
    "assume", "FILE:LINE=VALUE", "what is unknown: true, false, both, N, LO..HI", "", true};

/// How routers of experts choose.
inline constexpr OptionSpec kRoutingOption{
    "routing", "HOW", "tokens over experts: uniform, zipf:S or a FILE of shares", ""};

/// What becomes of code that a program compiles.
inline constexpr OptionSpec kCompileOption{
    "compile", "refuse|eager|model", "compiled code: run as eager, or compiled as PyTorch does",
    ""};

/// The job that a script is a process of.
inline constexpr OptionSpec kWorldOption{
    "world", "N", "run processes of a job of N, as torchrun starts them", ""};
inline constexpr OptionSpec kRankOption{"rank", "R", "which of them, or all; without it the worst",
                                        ""};
inline constexpr OptionSpec kProcessesOption{"nproc-per-node", "N",
                                             "processes a machine: 8, or all of fewer", ""};
inline constexpr OptionSpec kMachinesOption{"nnodes", "N",
                                            "machines, of --nproc-per-node processes each", ""};

/// A script's own arguments, behind its name.
inline constexpr ArgumentSpec kScriptArguments{
    "ARGS", "of a script; '--' stands before those that begin with a dash", false, true};

/// A command's options, and those on what a program gets and is taken for.
std::vector<OptionSpec> with_program_options(std::vector<OptionSpec> own);

/// The forms in which tables are printed.
inline constexpr std::string_view kTableFormats = "text|csv|json|markdown|latex";

/// How much of the device is to stay free, of commands that ask whether a scenario fits.
inline constexpr OptionSpec kHeadroomOption{"headroom", "SHARE",
                                            "what must stay free, of the device's total: 5%", "0%"};
/// "5%" or "0.5%" in millionths. Errors: InputError.
std::uint32_t parse_headroom(const std::string& text);

/// The value of --format where it is one of kTableFormats.
TableFormat table_format(const std::string& name);

/// A problem's text with "warning" in place of "error".
std::string render_warning(const Problem& warning);

}  // namespace tidemark::cli
