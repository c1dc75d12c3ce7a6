#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::lang {

/// The character that "\N{name}" means, in any case; nullopt: of Latin, Greek, punctuation, arrows,
/// mathematical operators and box drawing there is none so called. Cost: a search of some 1,000
/// names.
std::optional<std::uint32_t> character_named(std::string_view name);

}  // namespace tidemark::lang
