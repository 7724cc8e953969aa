# Headers, libraries and a package file of the C++ part; a wheel has none of it. Eigen, Pinocchio and Coal
# stay where they are: the package file looks for them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(installed stiction_core)
set_target_properties(stiction_core PROPERTIES EXPORT_NAME core)
install(DIRECTORY include/stiction DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp)
if(STICTION_BUILD_LOADERS)
  list(APPEND installed stiction_loaders)
  set_target_properties(stiction_loaders PROPERTIES EXPORT_NAME loaders)
  install(FILES scenes/scenes.hpp scenes/data_paths.hpp
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stiction/scenes COMPONENT cpp)
endif()
set(place ${CMAKE_INSTALL_LIBDIR}/cmake/stiction)
install(TARGETS ${installed} EXPORT stiction ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
install(EXPORT stiction NAMESPACE stiction:: FILE stiction-targets.cmake DESTINATION ${place} COMPONENT cpp)
configure_package_config_file(cmake/stiction-config.cmake.in stiction-config.cmake INSTALL_DESTINATION ${place})
write_basic_package_version_file(stiction-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/stiction-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/stiction-config-version.cmake
        DESTINATION ${place} COMPONENT cpp)
