#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

/// When the work of another stream that held up a free is over. Source: docs/rules/traces.md#3.
struct EventPolicy {
  enum class Kind : std::uint8_t {
    kSync,       ///< when something waits for it: what request traces are recorded with
    kReady,      ///< at once
    kLag,        ///< after `lag` more records on the same stream
    kSimulated,  ///< when the stream gets there in simulated time
  };
  Kind kind = Kind::kSimulated;
  std::uint64_t lag = 0;
  friend bool operator==(const EventPolicy&, const EventPolicy&) = default;
};

/// "sync", "ready", "lag:N", "simulated". Errors: std::nullopt for anything else.
std::optional<EventPolicy> parse_event_policy(std::string_view text);
std::string event_policy_name(const EventPolicy& policy);

}  // namespace tidemark
