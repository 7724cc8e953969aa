#include "stiction/model/robot.hpp"

#include "math/split_mix.hpp"
#include "model/mesh_file.hpp"
#include "scenes/data_paths.hpp"
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

// Mesh files: one surface in every format, and what is wrong with the others. Mutants of files are
// read by tests/python/test_file_mutants.py.

using namespace stiction;

BOOST_AUTO_TEST_SUITE(load_mesh_test)

namespace {

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "stiction_load_mesh_test";
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
};

const char* const kTriangles = "0 2 1 0 1 3 0 3 2 1 2 3";
const char* const kPoints = "0 0 0 1 0 0 0 1 0 0 0 1";

/// A COLLADA file whose mesh holds `primitives`, shown by `nodes`.
std::string dae(const std::string& primitives,
                const std::string& nodes = "<node><instance_geometry url='#g'/></node>",
                const std::string& accessor = "count='4' stride='3'",
                const std::string& library = "") {
  return std::string(
             "<COLLADA>\n<library_geometries><geometry id='g'><mesh>\n<source id='p'>"
             "<float_array>") +
         kPoints + "</float_array><technique_common>\n<accessor " + accessor +
         "/></technique_common></source>\n<vertices id='v'><input semantic='POSITION' "
         "source='#p'/></vertices>\n" +
         primitives + "\n</mesh></geometry></library_geometries>\n<library_nodes>" + library +
         "</library_nodes>\n<library_visual_scenes><visual_scene id='s'>" + nodes +
         "</visual_scene></library_visual_scenes>\n<scene><instance_visual_scene url='#s'/></scene>"
         "</COLLADA>";
}

std::string triangles(const std::string& p) {
  return "<triangles><input semantic='VERTEX' source='#v' offset='0'/><p>" + p + "</p></triangles>";
}

MeshFile load(const std::string& name, const std::string& text) {
  const Folder folder;
  return load_mesh(folder.write(name, text));
}

void refused(const std::string& name, const std::string& text, const std::string& part) {
  try {
    load(name, text);
    BOOST_ERROR("no error; expected: " + part);
  } catch (const std::runtime_error& e) {
    const std::string what = e.what();
    BOOST_TEST(what.find(name + ": " + part) != std::string::npos, what);
    BOOST_TEST(what.find('\n') == std::string::npos, what);
  }
}

double sum_of_areas(const std::vector<Vec3d>& corners) {
  double area = 0.0;
  const std::vector<int> cut = triangulate(corners);
  for (std::size_t i = 0; i < cut.size(); i += 3) {
    const Vec3d a = corners[cut[i]];
    area += 0.5 * norm(cross(corners[cut[i + 1]] - a, corners[cut[i + 2]] - a));
  }
  return area;
}

}  // namespace

BOOST_AUTO_TEST_CASE(one_tetrahedron_in_every_format) {
  const std::string vertices = "v 0 0 0\nv 1 0 0\r\nv 0 1 0 1.0\nv 0 0 1\nvn 1 0 0\n# end\n";
  const std::string edge = "offset='1'/><input semantic='VERTEX' source='#v' offset='0'/>";
  const std::pair<std::string, std::string> files[] = {
      {"t.obj", vertices + "f 1 3 2\nf 1/1 2/1 4/1\nf 1//1 4//1 3//1 # last but one\nf -3 -2 -1\n"},
      {"t.STL",
       "solid t\nfacet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\n"
       "endloop\nendfacet\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
       "vertex 0 0 1\nendloop\nendfacet\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\n"
       "vertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet\nfacet normal 1 1 1\nouter loop\n"
       "vertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet\nendsolid t\n"},
      {"triangles.dae", dae(triangles(kTriangles))},
      {"polylist.dae",
       dae("<polylist><input semantic='NORMAL' source='#v' " + edge +
           "<vcount>3 3 3 3</vcount><p>0 9 2 9 1 9 0 9 1 9 3 9 0 9 3 9 2 9 1 9 2 9 3 "
           "9</p></polylist>")},
      {"polygons.dae",
       dae("<polygons><input semantic='VERTEX' source='#v' offset='0'/><p>0 2 1</p><p>0 1 3</p>"
           "<p>0 3 2</p><p>1 2 3</p></polygons>")},
      {"fans.dae",
       dae("<trifans><input semantic='VERTEX' source='#v' offset='0'/><p>0 2 1 3 2</p>"
           "<p>1 2 3</p></trifans>")},
      {"strips.dae",
       dae("<tristrips><input semantic='VERTEX' source='#v' offset='0'/><p>0 2 1 3 0 2</p>"
           "</tristrips>")},
  };
  for (const auto& [name, text] : files) {
    const MeshFile mesh = load(name, text);
    BOOST_TEST(mesh.vertices.size() == 4u, name);
    BOOST_TEST(mesh.triangles.size() == 12u, name);
    BOOST_TEST(std::abs(mesh.volume - 1.0 / 6.0) < 1e-15, name << " " << mesh.volume);
  }
}

BOOST_AUTO_TEST_CASE(nodes_place_what_they_show) {
  const std::string show = "<instance_geometry url='#g'/>";
  const auto first = [&](const std::string& node) {
    return load("t.dae", dae(triangles("0 1 2"), "<node>" + node + show + "</node>")).vertices;
  };
  const auto near = [](const Vec3d& a, const Vec3d& b) { return norm(a - b) < 1e-6; };
  BOOST_TEST(near(first("<translate>1 2 3</translate>")[1], {2, 2, 3}));
  BOOST_TEST(near(first("<scale>2 3 4</scale>")[2], {0, 3, 0}));
  BOOST_TEST(near(first("<rotate>0 0 2 90</rotate>")[1], {0, 1, 0}));
  BOOST_TEST(near(first("<translate>1 0 0</translate><rotate>0 0 1 90</rotate>")[1], {1, 1, 0}));
  BOOST_TEST(near(first("<matrix>0 -1 0 5 1 0 0 6 0 0 1 7 0 0 0 1</matrix>")[1], {5, 7, 7}));
  const MeshFile nested = load("t.dae",
                               dae(triangles("0 1 2"),
                                   "<node><scale>2 2 2</scale><node><translate>1 0 0</translate>" +
                                       show + "</node><instance_node url='#n'/></node>",
                                   "count='4' stride='3'",
                                   "<node id='n'><translate>0 0 5</translate>" + show + "</node>"));
  BOOST_TEST(nested.vertices.size() == 6u);
  BOOST_TEST(near(nested.vertices[1], {4, 0, 0}));
  BOOST_TEST(near(nested.vertices[4], {2, 0, 10}));
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_said_with_its_line) {
  const std::string v = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  refused("m.ply", "ply\n", "meshes are read from STL, OBJ and DAE files, not from '.ply'");
  refused("m.obj", v, "the mesh has no triangles");
  refused("m.obj", v + "f 1 2 4\n", "line 4: vertex 4 does not exist; there are 3 so far");
  refused("m.obj", v + "f 1 2 -4\n", "line 4: vertex -4 does not exist");
  refused("m.obj", v + "f 0 1 2\n", "line 4: vertex 0 does not exist");
  refused("m.obj", v + "f 1 2 99999999999999999999\n", "line 4: '99999999999999999999' is no");
  refused("m.obj", v + "f 1 2\n", "line 4: a face has 2 corners");
  refused("m.obj", "v 0 nan 0\n", "line 1: 'nan' is not a finite number");
  refused("m.obj", "v 0 0\n", "line 1: '' is not a finite number");
  refused("m.obj", "v 1e60 0 0\n" + v + "f 1 2 3\n", "a vertex is not finite");
  refused("m.stl", "", "is no STL file");
  refused("m.stl", std::string(80, ' ') + "\xff\xff\xff\xff", "is truncated: its header tells of");
  refused("m.stl", "solid\nfacet\nvertex 0 0 x\n", "line 3: 'x' is not a finite number");
  refused("m.stl", "solid\nvertex 0 0 0\nendloop\n", "line 3: a facet has 1 vertices, not 3");
  refused("m.stl", "solid\nvertex 0 0 0\n", "line 2: is truncated");
  refused("m.stl",
          "solid\nv\x80"
          "ertex 0 0 0\n",
          "line 2: 'v?ertex' is no word");
  refused("m.dae", "<COLLADA>", "line 1: malformed XML");
  refused("m.dae", "<a/>", "the root element is not <COLLADA>");
  refused("m.dae", dae(triangles("0 2 1 0 1 -3")), "line 6: <p>: '-3' is no index");
  refused("m.dae", dae(triangles("0 2 1 0 1 .3")), "line 6: <p>: '.3' is no index");
  refused("m.dae", dae(triangles("0 2 1 0 1 4")), "line 6: <p>: vertex 4 does not exist");
  refused("m.dae", dae(triangles("0 2 1 0")), "line 6: <p>: has indices left over");
  refused("m.dae",
          dae(triangles("0 2 1"),
              "<node><instance_geometry url='#g'/></node>",
              "count='2147483647' stride='3'"),
          "line 4: <accessor>: reaches beyond the 12 numbers");
  refused("m.dae",
          dae("<polylist><input semantic='VERTEX' source='#v' offset='0'/><vcount>3 "
              "2147483647</vcount><p>0 1 2 3</p></polylist>"),
          "line 6: <p>: has too few indices");
  refused("m.dae", dae(triangles(kTriangles), ""), "the mesh has no triangles");
}

BOOST_AUTO_TEST_CASE(nodes_without_end_are_refused) {
  std::string doubling;
  for (int i = 0; i < 60; ++i) {
    const std::string next = "<instance_node url='#n" + std::to_string(i + 1) + "'/>";
    doubling += "<node id='n" + std::to_string(i) + "'>" + next + next + "</node>";
  }
  const auto with = [&](const std::string& library) {
    return dae(triangles("0 1 2"),
               "<node><instance_node url='#n0'/></node>",
               "count='4' stride='3'",
               library);
  };
  refused(
      "m.dae", with("<node id='n0'><instance_node url='#n0'/></node>"), "line 8: <node>: nodes");
  refused("m.dae", with(doubling + "<node id='n60'/>"), "line 8: <node>: more than 100000 nodes");
}

BOOST_AUTO_TEST_CASE(only_regular_files_are_opened) {
  const Folder folder;
  const std::string fifo = (folder.path / "pipe.obj").string();
  BOOST_REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  std::filesystem::create_directory(folder.path / "folder.obj");
  std::filesystem::create_symlink("/dev/zero", folder.path / "zero.obj");
  folder.write("sparse.obj", "v 0 0 0\n");
  std::filesystem::resize_file(folder.path / "sparse.obj", std::uintmax_t{1} << 36);
  const auto check = [&](const std::string& path, const std::string& part) {
    for (const bool urdf : {false, true}) {
      BOOST_CHECK_EXCEPTION(
          urdf ? (void)load_urdf(path) : (void)load_mesh(path),
          std::runtime_error,
          [&](const auto& e) { return std::string(e.what()).find(part) != std::string::npos; });
    }
  };
  check(fifo, "cannot be read (it is a folder, a pipe or a device)");
  check((folder.path / "folder.obj").string(), "cannot be read (it is a folder");
  check((folder.path / "zero.obj").string(), "cannot be read (it is a folder");
  check((folder.path / "sparse.obj").string(), "has 68719476736 bytes, more than the");
  check((folder.path / "none.obj").string(), "cannot be opened");
  check(fifo + std::string("\0.obj", 5), "the path holds a zero byte");
}

// Star-shaped polygons, convex and not, tilted in space: the triangles cover the polygon's area.
BOOST_AUTO_TEST_CASE(polygons_are_cut_into_triangles_that_cover_them) {
  SplitMix random{3};
  int convex = 0, reflex = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 3 + static_cast<int>(8 * random());
    const double spread = trial % 2 ? 0.8 : 0.0;
    const Vec3d u{0.6, 0.8, 0}, w{-0.48, 0.36, 0.8};
    std::vector<Vec3d> corners;
    for (int i = 0; i < n; ++i) {
      const double angle = 2 * M_PI * i / n, r = 1.0 - spread * random();
      corners.push_back(u * (r * std::cos(angle)) + w * (r * std::sin(angle)));
    }
    Vec3d area{0, 0, 0};
    for (int i = 0; i < n; ++i) area = area + cross(corners[i], corners[(i + 1) % n]) * 0.5;
    (spread > 0.0 ? reflex : convex)++;
    BOOST_TEST(triangulate(corners).size() == 3u * (n - 2));
    BOOST_TEST(std::abs(sum_of_areas(corners) - norm(area)) < 1e-12, "trial " << trial);
  }
  BOOST_TEST(convex == 150);
  BOOST_TEST(reflex == 150);
}

BOOST_AUTO_TEST_SUITE_END()
