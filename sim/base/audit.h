#pragma once

namespace tidemark {

/// Whether structures that have a validate() call it as they change: in builds without NDEBUG.
#ifdef NDEBUG
inline constexpr bool kAudits = false;
#else
inline constexpr bool kAudits = true;
#endif

}  // namespace tidemark
