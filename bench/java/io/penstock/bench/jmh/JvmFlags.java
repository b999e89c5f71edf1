package io.penstock.bench.jmh;

/** What the forks are started with. */
final class JvmFlags {

    static final String NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";
    /** The next flag without a line of output for it. */
    static final String QUIET = "-XX:CompileCommand=quiet";
    /** What the guide advises and the launcher passes where ids are widened on the host. */
    static final String WIDENING = "-XX:CompileCommand=dontinline,io.penstock.collate.Integers::store*";

    /** The runtime of the tests, which {@code bench/prepare.sh} builds. */
    static final String SIMULATED_CUDA = "-Dpenstock.cudart=target/bench/libcudart-simulated.so";

    private JvmFlags() {
    }
}
