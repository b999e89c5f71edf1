// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry.recording;

import jdk.jfr.FlightRecorder;

/** The JDK's flight recorder, which a JVM may lack and most runs do not use. */
public final class Recorder {

    private static final boolean PRESENT = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    /**
     * {@return whether this JVM has had a recording; only then are event objects worthwhile, because loading the first
     * event class takes a tenth of a second}
     */
    public static boolean isUsed() {
        return PRESENT && FlightRecorder.isInitialized();
    }
}
