// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import java.util.List;

/** The parsers of the wings, fuzzed as the engine's are. */
class WingsFuzzTest extends FuzzTargetsTest {

    @Override
    List<String> classes() {
        return List.of("formats/target/test-classes", "pictures/target/test-classes", "media/target/test-classes",
                "tools/target/test-classes");
    }
}
