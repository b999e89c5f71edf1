// SPDX-License-Identifier: Apache-2.0
package io.penstock.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Devices are found as services: a jar of somebody else's adds one, and a bad one takes none away. */
class DeviceProviderTest {
    private static final String SERVICES = "META-INF/services/io.penstock.device.DeviceProvider";
    private static final String TOY = """
            package user;

            import io.penstock.device.*;
            import io.penstock.device.DeviceInventory.DeviceInfo;
            import io.penstock.device.DeviceInventory.DeviceSupport;
            import java.util.List;

            public final class Toy implements DeviceProvider {
                public String kind() {
                    return "toy";
                }

                public Device open(int ordinal) {
                    throw new DeviceUnavailableException(
                            DeviceUnavailableException.Reason.NO_SUCH_DEVICE, "no toy " + ordinal, null);
                }

                public DeviceSupport inspect() {
                    var info = new DeviceInfo("toy:0", "tin", "", 1, 1, -1, -1, "", "");
                    return new DeviceSupport("toy", List.of(info), "", "", "", null, "");
                }
            }
            """;

    @TempDir
    private Path folder;

    @Test
    void theHostIsFoundFirstAndThenCuda() {
        assertEquals(List.of("host", "cuda"),
                DeviceProviders.find().all().stream().map(DeviceProvider::kind).toList());
        DeviceInventory inventory = DeviceInventory.take();
        assertEquals("host", inventory.devices().getFirst().name());
        assertEquals("host", inventory.kinds().getFirst().kind());
        assertEquals("cuda", inventory.kind("cuda").kind());
        assertEquals(inventory.kind("cuda").isUsable(), inventory.devices().size() > 1);
        assertThrows(IllegalArgumentException.class, () -> inventory.kind("toy"));
    }

    @Test
    void theHostHasOneDevice() {
        try (Device device = Device.open("host:0")) {
            assertEquals("host", device.name());
        }
        assertEquals("there is no host:1: host is the only device",
                assertThrows(DeviceUnavailableException.class, () -> Device.open("host:1")).getMessage());
    }

    @Test
    void aProviderOfAnotherJarIsFoundAndOneThatCannotBeLoadedIsLeftOut() throws Exception {
        Path source = Files.createDirectories(folder.resolve("user")).resolve("Toy.java");
        Files.writeString(source, TOY);
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, "-d", folder.toString(), "-cp",
                "target/classes", source.toString()));
        Files.createDirectories(folder.resolve(SERVICES).getParent());
        Files.writeString(folder.resolve(SERVICES), "user.Missing\nuser.Toy\n");
        try (URLClassLoader loader = engine(folder, Path.of("target/classes"))) {
            assertEquals("no toy 3", failure(loader, "toy:3").getMessage());
            String message = failure(loader, "train:0").getMessage();
            assertTrue(message.startsWith("unknown device 'train:0', expected auto, or one of [host, "), message);
            Object device = open(loader, "host");
            assertEquals("HostDevice", device.getClass().getSimpleName());
            ((AutoCloseable) device).close();
            Class<?> inventory = loader.loadClass("io.penstock.device.DeviceInventory");
            String found = inventory.getMethod("take").invoke(null).toString();
            assertTrue(found.contains("name=toy:0, model=tin") && found.contains("name=host"), found);
        }
    }

    /** As of a jar that was put together of others, whose service files were lost. */
    @Test
    void withoutServiceFilesTheErrorSaysWhatIsMissing() throws Exception {
        Path classes = Path.of("target/classes");
        try (Stream<Path> files = Files.walk(classes.resolve("io"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path copy = folder.resolve(classes.relativize(file));
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            }
        }
        try (URLClassLoader loader = engine(folder)) {
            Throwable failure = assertThrows(InvocationTargetException.class, () -> loader.loadClass(
                    "io.penstock.device.Device").getMethod("host").invoke(null)).getCause();
            assertEquals("no provider for device 'host', found [] (is " + SERVICES
                    + " of Penstock's jar on the class path?)", failure.getMessage());
        }
    }

    /** The engine loaded anew, from these folders. */
    private static URLClassLoader engine(Path... folders) throws Exception {
        URL[] urls = new URL[folders.length];
        for (int i = 0; i < urls.length; i++) {
            urls[i] = folders[i].toUri().toURL();
        }
        return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
    }

    private static Object open(ClassLoader loader, String name) throws Exception {
        return loader.loadClass("io.penstock.device.Device").getMethod("open", String.class).invoke(null, name);
    }

    private static Throwable failure(ClassLoader loader, String name) {
        return assertThrows(InvocationTargetException.class, () -> open(loader, name)).getCause();
    }
}
