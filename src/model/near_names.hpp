#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace stiction {

/// Levenshtein distance: insertions, deletions and substitutions cost 1.
inline int edit_distance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

/// "; near: a, b, c" with at most five of the names, the nearest first; "" if there are no names.
inline std::string near_names(const std::string& wanted, const std::vector<std::string>& names) {
  std::vector<std::pair<int, std::string>> ranked;
  for (const std::string& n : names) {
    const bool part = n.find(wanted) != std::string::npos || wanted.find(n) != std::string::npos;
    ranked.push_back({part ? 0 : edit_distance(wanted, n), n});
  }
  std::stable_sort(
      ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(5, ranked.size()); ++i) {
    text += (i ? ", " : "; near: ") + ranked[i].second;
  }
  return text;
}

}  // namespace stiction
