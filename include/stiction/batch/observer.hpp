#pragma once

#include "stiction/batch/batch.hpp"

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace stiction {

/// A frame fixed to a body; -1: the world's.
struct BodyFrame {
  int body = -1;
  Transform X_BF = Transform::identity();
};

/// Points under which the ground is looked for, by rays straight down.
struct HeightScanSettings {
  std::vector<double> points;  ///< [n, 2] x, y [m] from the origin of the frame, in axes that turn
                               ///< with it about the vertical: x along its x axis, seen from above
  BodyFrame frame;
  double above = 10.0;  ///< where rays begin, over the frame's origin [m]; >= 0
  double miss = std::numeric_limits<double>::quiet_NaN();  ///< told where a ray meets nothing
  std::vector<int> ground;  ///< geometries of the world that are looked at; empty: all
};

/// What an Observer writes of each world.
struct ObserverSettings {
  /// Columns in this order; observation_names() with what each needs of the following.
  std::vector<std::string> names;
  std::vector<int> feet;          ///< geometries of "contact", "force", "wrench"
  std::vector<BodyFrame> frames;  ///< of "pose", "velocity"
  BodyFrame reference;            ///< in whose axes these are told
  BodyFrame imu;                  ///< of "imu", on a body
  HeightScanSettings scan;        ///< of "heights"
};
/// The names there are.
const std::vector<std::string>& observation_names();

/// What a controller sees of the worlds of a batch, computed on its threads. No number of a world
/// depends on the others, on threads or on the number type but for its rounding; rows of states
/// that are not finite are not finite. Once made it allocates nothing, but for worlds with sizes or
/// placements of shapes of their own.
class Observer {
 public:
  /// Throws std::invalid_argument for a name that is unknown, given twice or has nothing to show,
  /// and naming settings out of range. Where "imu", "force" or "wrench" is asked for, the batch
  /// keeps the last step of every world from now on. The batch must stay.
  Observer(Batch& batch, const ObserverSettings& settings);
  ~Observer();

  int columns() const;
  /// First column of each name and, last, their number.
  std::vector<int> places() const;
  /// To rows of out, `stride` numbers apart; float or double.
  template <class Real>
  void observe(Real* out, std::ptrdiff_t stride) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The last `length` rows of m numbers of each world, history [worlds, length, m], the latest last:
/// all move up by one and the newest [worlds, m] comes in. Worlds of `begun` (null: none) have it
/// in every row. float or double.
template <class Real>
void roll_history(const Batch& batch,
                  int length,
                  int m,
                  const Real* newest,
                  const std::uint8_t* begun,
                  Real* history);

}  // namespace stiction
