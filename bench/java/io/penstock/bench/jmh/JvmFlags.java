// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

/** What the forks are started with. */
final class JvmFlags {

    static final String NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";
    /** The runtime of the tests, which {@code bench/prepare.sh} builds. */
    static final String SIMULATED_CUDA = "-Dpenstock.cudart=target/bench/libcudart-simulated.so";

    private JvmFlags() {
    }
}
