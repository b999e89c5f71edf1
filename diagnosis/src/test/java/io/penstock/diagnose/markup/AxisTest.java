// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.markup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class AxisTest {

    @Test
    void axesEndAtARoundNumberThatNothingExceeds() {
        for (double greatest : new double[] {0.0013, 0.5, 1, 1.01, 3, 9.99, 12, 640, 12_345}) {
            Axis axis = Axis.of(greatest, 0, 100);
            assertTrue(axis.top() >= greatest && axis.top() < 1.5 * greatest + axis.step(), axis + " for " + greatest);
            assertTrue(axis.ticks().size() >= 3 && axis.ticks().size() <= 7, axis + " has " + axis.ticks());
            assertEquals(100, axis.pixel(axis.top()), 1e-9);
        }
    }
}
