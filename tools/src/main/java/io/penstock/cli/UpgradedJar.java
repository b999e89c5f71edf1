// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.io.local.RegularFile;
import java.io.IOException;
import java.lang.classfile.ClassElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * Copies a library with its classes in the format of Java 8. The JVM puts no class into an ahead-of-time cache whose
 * format is older than that of Java 6, and picocli's is: the launcher makes the cache with this copy.
 */
final class UpgradedJar {

    private static final int OLDEST_IN_CACHE = ClassFile.JAVA_6_VERSION;

    private UpgradedJar() {
    }

    public static void main(String[] args) throws IOException {
        write(Path.of(args[0]), Path.of(args[1]));
    }

    private static void write(Path jar, Path upgraded) throws IOException {
        ClassFile classFile = ClassFile.of(ClassFile.StackMapsOption.GENERATE_STACK_MAPS,
                ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofClassLoading(
                        UpgradedJar.class.getClassLoader())));
        try (ZipInputStream in = new ZipInputStream(RegularFile.newInputStream(jar));
                ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(upgraded))) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                byte[] bytes = in.readAllBytes();
                out.putNextEntry(new ZipEntry(entry.getName()));
                out.write(entry.getName().endsWith(".class") ? upgraded(classFile, bytes) : bytes);
            }
        }
    }

    private static byte[] upgraded(ClassFile classFile, byte[] bytes) {
        ClassModel old = classFile.parse(bytes);
        if (old.majorVersion() >= OLDEST_IN_CACHE) {
            return bytes;
        }
        byte[] changed = classFile.build(old.thisClass().asSymbol(), builder -> {
            builder.withVersion(ClassFile.JAVA_8_VERSION, 0);
            for (ClassElement element : old) {
                if (element instanceof MethodModel method) {
                    builder.transformMethod(method, MethodTransform.transformingCode(CodeBuilder::with));
                } else if (!(element instanceof ClassFileVersion)) {
                    builder.with(element);
                }
            }
        });
        return classFile.verify(changed).isEmpty() ? changed : bytes;
    }
}
