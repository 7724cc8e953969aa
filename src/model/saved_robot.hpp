#pragma once

#include "stiction/model/robot.hpp"

#include "model/saved_shapes.hpp"

#include <map>
#include <string>
#include <vector>

// What a loader said of a robot, in a saved scene; and what a scene has alike.

namespace stiction {

void put_messages(ByteWriter& out, const std::vector<LoadMessage>& messages);
std::vector<LoadMessage> get_messages(ByteReader& in);

using Configurations = std::map<std::string, std::vector<double>>;
void put_configurations(ByteWriter& out, const Configurations& configurations);
/// Of `nq` finite numbers each.
Configurations get_configurations(ByteReader& in, int nq);
/// `nq` finite numbers.
std::vector<double> get_configuration(ByteReader& in, const char* field, int nq);

void put_transform(ByteWriter& out, const Transform& X);
/// Finite, and a rotation.
Transform get_transform(ByteReader& in, const char* field);

void put_joint(ByteWriter& out, JointType joint);
JointType get_joint(ByteReader& in);

/// All but Robot::model.
void put_robot(ByteWriter& out, const Robot& robot, const ShapeWriter& shapes);
/// Every index within the robot's own lists; names `what` in errors.
Robot get_robot(ByteReader& in, const std::string& what, const ShapeReader& shapes);

}  // namespace stiction
