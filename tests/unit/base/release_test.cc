#include "sim/base/release.h"

#include "sim/base/problem.h"

using namespace tidemark;

TEST_CASE("a release is read from its number") {
  CHECK(parse_version("--pytorch", "2.11") == Version{2, 11});
  CHECK(parse_version("--pytorch", "2.6.0") == Version{2, 6});
  for (const char* bad :
       {"", "2", "2.", "2.11.", "2.11.0.1", "two", "2.3", "2.16", "3.0", "2.300"}) {
    CHECK_THROWS_AS(parse_version("--pytorch", bad), InputError);
  }
  CHECK_THROWS_WITH(parse_version("--pytorch", "1.13"),
                    "error: --pytorch: expected a PyTorch release from 2.4 to 2.15, found '1.13'; "
                    "the oldest that "
                    "Tidemark knows is the nearest\n");
  CHECK_THROWS_WITH(parse_version("pytorch", "2.99"),
                    "error: pytorch: expected a PyTorch release from 2.4 to 2.15, found '2.99'; "
                    "the newest that Tidemark knows is 2.15; `tidemark run --pytorch-like 2.15` "
                    "takes its rules\n");
}

TEST_CASE("a wheel's toolkit is read as a version or as its tag") {
  CHECK(parse_cuda_version("cuda", "12.8") == Version{12, 8});
  CHECK(parse_cuda_version("cuda", "cu118") == Version{11, 8});
  CHECK_THROWS_WITH(
      parse_cuda_version("cuda", "12.7"),
      "error: cuda: expected the CUDA toolkit of a PyTorch wheel, found '12.7'; known "
      "are 11.8, 12.1, 12.4, 12.6, 12.8, 12.9, 13.0, 13.2\n");
}

TEST_CASE("each release has the toolkit of its wheel on PyPI") {
  CHECK(pypi_wheel({2, 4}).cuda == Version{12, 1});
  CHECK(pypi_wheel({2, 6}).cuda == Version{12, 4});
  CHECK(pypi_wheel({2, 11}).cuda == Version{13, 0});
  CHECK(pypi_wheel({2, 15}).cuda == Version{13, 2});
}

TEST_CASE("ranges of releases hold their ends, and are said in words") {
  constexpr Releases kSome{{2, 9}, {2, 11}};
  CHECK_FALSE(kSome.contain({2, 8}));
  CHECK(kSome.contain({2, 9}));
  CHECK(kSome.contain({2, 11}));
  CHECK_FALSE(kSome.contain({2, 12}));
  CHECK(to_string(kSome) == "2.9 to 2.11");
  CHECK(to_string(Releases{{2, 15}, {2, 15}}) == "2.15");
}
