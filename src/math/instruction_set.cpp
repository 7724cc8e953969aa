#include "math/instruction_set.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace stiction {
namespace {

InstructionSet of_processor() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return InstructionSet::kAvx512;
  if (__builtin_cpu_supports("avx2")) return InstructionSet::kAvx2;
#endif
  return InstructionSet::kBaseline;
}

InstructionSet allowed() {
  const char* name = std::getenv("STICTION_MAX_ISA");
  const std::string text = name == nullptr ? "" : name;
  if (text.empty() || text == "avx512") return InstructionSet::kAvx512;
  if (text == "avx2") return InstructionSet::kAvx2;
  if (text == "baseline") return InstructionSet::kBaseline;
  throw std::invalid_argument("environment variable STICTION_MAX_ISA = '" + text +
                              "': must be baseline, avx2 or avx512");
}

}  // namespace

InstructionSet widest_instruction_set() {
  static const InstructionSet widest = std::min(of_processor(), allowed());
  return widest;
}

}  // namespace stiction
