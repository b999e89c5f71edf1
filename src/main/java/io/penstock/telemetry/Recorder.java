package io.penstock.telemetry;

import jdk.jfr.FlightRecorder;

/** The JDK's flight recorder, which a JVM may lack, and which nothing has been asked of in most runs. */
public final class Recorder {

    private static final boolean PRESENT = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private Recorder() {
    }

    /**
     * Whether there has been a recording in this JVM. Only then is an event worth an object: to load the first class of
     * an event takes a tenth of a second.
     *
     * @return false as long as nobody has asked for one
     */
    public static boolean isUsed() {
        return PRESENT && FlightRecorder.isInitialized();
    }
}
