# What `cmake --install` and the Debian package hold. The program looks for share/tidemark beside the folder that it lies in.
install(TARGETS tidemark RUNTIME DESTINATION bin)
install(DIRECTORY configs DESTINATION share/tidemark PATTERN __pycache__ EXCLUDE)
install(DIRECTORY plots DESTINATION share/tidemark USE_SOURCE_PERMISSIONS
        FILES_MATCHING PATTERN "*.py" PATTERN "test_*.py" EXCLUDE PATTERN sample EXCLUDE PATTERN __pycache__ EXCLUDE)
install(DIRECTORY validation/torch validation/pretend validation/scenarios DESTINATION share/tidemark/validation USE_SOURCE_PERMISSIONS
        PATTERN tests EXCLUDE PATTERN __pycache__ EXCLUDE)
install(DIRECTORY docs DESTINATION share/doc/tidemark)
install(FILES README.md CHANGELOG.md DESTINATION share/doc/tidemark)
install(CODE "set(program \"$<TARGET_FILE:tidemark>\")\nset(made \"${PROJECT_BINARY_DIR}/made\")")
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/InstallMade.cmake)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Tidemark developers <tidemark@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Tells what a PyTorch program does to GPU memory, to the byte: whether it
fits, where the peak is, what holds the memory there, and what fragments it.
It needs no GPU and no PyTorch.")
if(NOT TIDEMARK_STATIC)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
# For --plot and report; everything else does without.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, python3-matplotlib, python3-numpy")
include(CPack)
