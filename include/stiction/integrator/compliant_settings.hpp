#pragma once

#include "stiction/contact/compliant_law.hpp"
#include "stiction/math/setting.hpp"

#include <string>
#include <tuple>

namespace stiction {

/// Of the compliant integrators. What the fields mean: kCompliantSettings below.
struct CompliantSettings {
  std::string law = "continuous";
  int substeps = 1;
  double newton_tolerance = 1e-10;
  int newton_iterations = 30;
  int newton_halvings = 6;
  double accuracy = 0.0;
  int max_products = -1;
  bool balancing = true;
  bool double_integral = true;
  std::string projection = "radial";
  CompliantLaw chosen_law() const {
    return law == "published" ? CompliantLaw::kPublished : CompliantLaw::kContinuous;
  }
};

inline constexpr std::tuple kCompliantSettings{
    Setting<CompliantSettings, std::string>{
        "law",
        &CompliantSettings::law,
        {"\"continuous\" or \"published\"",
         [](const std::string& x) { return x == "continuous" || x == "published"; }},
        "",
        "Of a compliant point.",
        "explicit-euler exponential-published implicit-euler rk4 symplectic-euler"},
    Setting<CompliantSettings, int>{
        "substeps",
        &CompliantSettings::substeps,
        kAtLeastOne,
        "",
        "A step is so many equal ones; one report.",
        "explicit-euler exponential exponential-published implicit-euler rk4 symplectic-euler"},
    Setting<CompliantSettings, double>{
        "newton_tolerance",
        &CompliantSettings::newton_tolerance,
        {"> 0", [](const double& x) { return x > 0.0 && std::isfinite(x); }},
        "",
        "Newton ends when the mass-weighted norm of its step, sqrt(dv^T M dv), is at most this "
        "times the norms of v, of its change in the step and of the change without contacts.",
        "implicit-euler"},
    Setting<CompliantSettings, int>{"newton_iterations",
                                    &CompliantSettings::newton_iterations,
                                    kAtLeastOne,
                                    "",
                                    "Of a sub-step, at most.",
                                    "implicit-euler"},
    Setting<CompliantSettings, int>{"newton_halvings",
                                    &CompliantSettings::newton_halvings,
                                    {"in [0, 20]", [](const int& n) { return n >= 0 && n <= 20; }},
                                    "",
                                    "Where Newton fails, the sub-step is cut in two, so often one "
                                    "within the other; if that is not enough, the status says so.",
                                    "implicit-euler"},
    Setting<CompliantSettings, double>{
        "accuracy",
        &CompliantSettings::accuracy,
        {">= 0 and finite, 0 for steps of fixed length",
         [](const double& x) { return x >= 0.0 && std::isfinite(x); }},
        "m, rad, m/s, rad/s",
        "Largest error of a step; each sub-step is compared with two halves, at three times the "
        "cost, and cut in two until the difference says that its share is small enough. 0: no such "
        "comparison.",
        "exponential"},
    Setting<CompliantSettings, int>{
        "max_products",
        &CompliantSettings::max_products,
        {"-1 (full precision) or >= 0", [](const int& n) { return n >= -1; }},
        "",
        "Most matrix products of its exponential, 0 to 4 as in its paper; -1: full precision.",
        "exponential-published"},
    Setting<CompliantSettings, bool>{"balancing",
                                     &CompliantSettings::balancing,
                                     kEither,
                                     "",
                                     "Scale its matrix by powers of 2 first.",
                                     "exponential-published"},
    Setting<CompliantSettings, bool>{"double_integral",
                                     &CompliantSettings::double_integral,
                                     kEither,
                                     "",
                                     "q by the average of the average force, else by the average.",
                                     "exponential-published"},
    Setting<CompliantSettings, std::string>{
        "projection",
        &CompliantSettings::projection,
        {"\"radial\" or \"euclidean\"",
         [](const std::string& x) { return x == "radial" || x == "euclidean"; }},
        "",
        "Of average forces on the cone: radial keeps the normal force, euclidean takes the nearest "
        "point.",
        "exponential-published"}};

}  // namespace stiction
