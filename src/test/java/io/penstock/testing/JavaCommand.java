// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The command lines of JVMs that tests start, up to the main class, which is to follow. They run a few seconds, so they
 * compile by C1 alone and collect on one thread, unless they are {@link #optimized}.
 */
public final class JavaCommand {

    private static final String NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";
    private static final List<String> BRIEF = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
            "-XX:-UsePerfData", "-Xshare:auto");

    private JavaCommand() {
    }

    /** A JVM with the class path of this one; native access is allowed. */
    public static List<String> of(String... options) {
        return onClassPath(classPath(), options);
    }

    /** The same with another class path. */
    public static List<String> onClassPath(String classPath, String... options) {
        List<String> command = withoutNativeAccess(classPath, BRIEF, options);
        command.add(1, NATIVE_ACCESS);
        return command;
    }

    /** The same with the JVM's own choice of compilers and collector: for what counts allocations, or computes much. */
    public static List<String> optimized(String classPath, String... options) {
        List<String> command = withoutNativeAccess(classPath, List.of(), options);
        command.add(1, NATIVE_ACCESS);
        return command;
    }

    /** A JVM with the class path of this one, without native access. */
    public static List<String> withoutNativeAccess(String... options) {
        return withoutNativeAccess(classPath(), BRIEF, options);
    }

    private static List<String> withoutNativeAccess(String classPath, List<String> usual, String... options) {
        List<String> command = new ArrayList<>();
        command.add(tool("java"));
        command.addAll(usual);
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", classPath));
        return command;
    }

    /** The class path of this JVM. */
    public static String classPath() {
        return System.getProperty("java.class.path");
    }

    /** The path of a program of this JVM's JDK. */
    public static String tool(String name) {
        return Path.of(System.getProperty("java.home"), "bin", name).toString();
    }
}
