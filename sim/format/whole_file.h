#pragma once

#include <string>
#include <string_view>

namespace tidemark {

/// A file's contents in memory, unzipped where they are gzip; "-" is standard input.
/// Errors: IoError; InputError when gzip data are damaged.
std::string read_whole_file(const std::string& path);

/// Writes a file, gzipped where the name ends in ".gz" (the same bytes every time: no time stamp
/// inside). It appears complete or not at all: written beside its place, then renamed. What is no
/// regular file (/dev/stdout, a pipe) is written directly. Errors: IoError.
void write_whole_file(const std::string& path, std::string_view contents);

/// `contents` as a gzip file.
std::string gzipped(std::string_view contents);

}  // namespace tidemark
