// SPDX-License-Identifier: Apache-2.0
package io.penstock.testing;

import io.penstock.store.StoreProvider;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import org.example.format.TokProvider;

/** A jar with formats of somebody else's, as it would lie beside Penstock's. */
public final class FormatJar {

    private static final String PACKAGE = "org.example.";

    private FormatJar() {
    }

    /** Writes a jar with all of the example's classes, which provides some of them. */
    public static Path write(Path jar, Class<?>... providers) throws IOException {
        return write(jar, Arrays.stream(providers).map(Class::getName).collect(Collectors.joining("\n")));
    }

    /** Writes such a jar with this list of providers. */
    public static Path write(Path jar, String providers) throws IOException {
        String folder = TokProvider.class.getPackageName().replace('.', '/') + "/";
        try (OutputStream out = Files.newOutputStream(jar); JarOutputStream entries = new JarOutputStream(out)) {
            entries.putNextEntry(new JarEntry("META-INF/services/" + StoreProvider.class.getName()));
            entries.write(providers.getBytes(StandardCharsets.UTF_8));
            for (String name : List.of("TokProvider", "TokProvider$Tokens", "TokProvider$Writer", "BrokenProvider",
                    "LastProvider")) {
                entries.putNextEntry(new JarEntry(folder + name + ".class"));
                try (InputStream in = TokProvider.class.getResourceAsStream(name + ".class")) {
                    in.transferTo(entries);
                }
            }
        }
        return jar;
    }

    /** A class loader that has the jar's classes from the jar, and all others from the tests' loader. */
    public static URLClassLoader loader(Path jar) throws IOException {
        ClassLoader engine = new ClassLoader(FormatJar.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (name.startsWith(PACKAGE)) {
                    throw new ClassNotFoundException(name);
                }
                return super.loadClass(name, resolve);
            }
        };
        return new URLClassLoader(new URL[] {jar.toUri().toURL()}, engine);
    }
}
