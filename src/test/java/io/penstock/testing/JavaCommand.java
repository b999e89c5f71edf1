// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line of a JVM like this one, with its class path. */
public final class JavaCommand {

    private JavaCommand() {
    }

    /** The command up to the main class, which is to follow; native access is allowed. */
    public static List<String> of(String... options) {
        return onClassPath(System.getProperty("java.class.path"), options);
    }

    /** The same with another class path. */
    public static List<String> onClassPath(String classPath, String... options) {
        List<String> command = command(classPath, options);
        command.add(1, "--enable-native-access=ALL-UNNAMED");
        return command;
    }

    /** The same without native access. */
    public static List<String> withoutNativeAccess(String... options) {
        return command(System.getProperty("java.class.path"), options);
    }

    private static List<String> command(String classPath, String... options) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", classPath));
        return command;
    }
}
