# So that the compiler cache has for one build folder what it made for another, precompiled headers too.
# The folders must be equally deep, so that paths in commands are the same. Sourced, from the root.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
