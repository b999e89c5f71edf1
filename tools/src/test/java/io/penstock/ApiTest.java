// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.testing.Modules;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Holds the exported types to what users of an API expect: by reflection, on the compiled classes. */
class ApiTest {

    /** Code in a document: a fenced or indented block, or words between backquotes. */
    private static final Pattern CODE = Pattern.compile("(?s)```.*?```|`[^`]+`|(?m:^ {4}.*$)");

    /** A type for those who build on the engine: it needs what only the package of mapped files may do. */
    private static final Set<String> ENGINE_ONLY = Set.of("io.penstock.io.ReadAhead");

    /** Every accessible type of an exported package. */
    private static List<Class<?>> api;
    private static Set<String> exported;
    /** The names of services and of their providers. */
    private static Set<String> services;

    @BeforeAll
    static void findTypes() throws IOException, ClassNotFoundException {
        exported = new HashSet<>();
        services = new HashSet<>();
        api = new ArrayList<>();
        for (Path classes : Modules.classes()) {
            ModuleDescriptor module = Modules.descriptor(classes);
            module.exports().stream().filter(export -> !export.isQualified())
                    .forEach(export -> exported.add(export.source()));
            services.addAll(module.uses());
            module.provides().forEach(service -> services.addAll(service.providers()));
            addTypes(classes);
        }
        assertTrue(api.size() > 150, "only " + api.size() + " types");
    }

    private static void addTypes(Path classes) throws IOException, ClassNotFoundException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(classes.resolve("io"))) {
            files = all.filter(file -> file.toString().endsWith(".class")).toList();
        }
        for (Path file : files) {
            String path = classes.relativize(file).toString();
            String name = path.substring(0, path.length() - ".class".length()).replace('/', '.');
            if (exported.contains(name.substring(0, name.lastIndexOf('.'))) && !name.endsWith("package-info")) {
                Class<?> type = Class.forName(name, false, ApiTest.class.getClassLoader());
                if (isAccessible(type)) {
                    api.add(type);
                }
            }
        }
    }

    /** What {@code javac -Xlint:exports} warns of, in module mode. */
    @Test
    void signaturesNameOnlyTypesThatUsersCanName() {
        Set<String> found = new TreeSet<>();
        for (Class<?> type : api) {
            for (Executable member : members(type)) {
                named(member).forEach(named -> report(found, member.toString(), named));
            }
            for (Field field : type.getDeclaredFields()) {
                if (isOpen(field.getModifiers(), type)) {
                    report(found, field.toString(), field.getGenericType());
                }
            }
            for (Type above : type.getGenericInterfaces()) {
                report(found, type.toString(), above);
            }
        }
        assertEquals(Set.of(), found);
    }

    /** A call reads {@code write(store, true)} where it should say what is true. */
    @Test
    void noMethodTakesABoolean() {
        Set<String> found = new TreeSet<>();
        for (Class<?> type : api) {
            for (Executable member : members(type)) {
                boolean ofRecord = member instanceof Constructor<?> && type.isRecord();
                if (!ofRecord && Arrays.asList(member.getParameterTypes()).contains(boolean.class)) {
                    found.add(member.toString());
                }
            }
        }
        assertEquals(Set.of(), found);
    }

    @Test
    void noTwoTypesHaveOneName() {
        Map<String, List<String>> names = new TreeMap<>();
        for (Class<?> type : api) {
            if (!type.getSimpleName().equals("Builder")) {
                names.computeIfAbsent(type.getSimpleName(), _ -> new ArrayList<>()).add(type.getName());
            }
        }
        names.values().removeIf(types -> types.size() == 1);
        assertEquals(Map.of(), names);
    }

    /**
     * What only the engine uses is in a package that is not exported. Users are told of a type if their documents, the
     * examples or the integrations name it, or if a signature of such a type does; exceptions, services and their
     * providers need no mention.
     */
    @Test
    void usersAreToldOfEveryExportedType() throws IOException {
        Set<String> words = wordsOfCode();
        Deque<Class<?>> todo = new ArrayDeque<>(api.stream().filter(type -> words.contains(type.getSimpleName())
                || Throwable.class.isAssignableFrom(type) || services.contains(type.getName())).toList());
        Set<Class<?>> told = new HashSet<>();
        while (!todo.isEmpty()) {
            Class<?> type = todo.pop();
            if (told.add(type)) {
                todo.addAll(neighbors(type));
            }
        }
        Set<String> untold = new TreeSet<>();
        api.stream().filter(type -> !told.contains(type)).forEach(type -> untold.add(type.getName()));
        assertEquals(ENGINE_ONLY, untold);
    }

    /** The words in the code of documents for users, of examples and of integrations. */
    private static Set<String> wordsOfCode() throws IOException {
        Set<String> words = new HashSet<>();
        for (String root : List.of("README.md", "docs", "examples", "integrations")) {
            try (Stream<Path> files = Files.walk(Path.of(root))) {
                for (Path file : files.filter(ApiTest::isRead).toList()) {
                    String text = Files.readString(file);
                    if (file.toString().endsWith(".md")) {
                        text = CODE.matcher(text).results().map(MatchResult::group).collect(Collectors.joining(" "));
                    }
                    words.addAll(Arrays.asList(text.split("\\W+")));
                }
            }
        }
        return words;
    }

    /** Not what is for those who change or port the engine, and not what builds the site. */
    private static boolean isRead(Path file) {
        String name = file.toString();
        if (name.matches("docs/(architecture\\.md|(spec|decisions|site)/.*)")) {
            return false;
        }
        return name.endsWith(".md")
                || name.endsWith(".java") && !name.contains("/target/") && !name.contains("/src/test/");
    }

    /** The types that a user of a type meets. */
    private static Set<Class<?>> neighbors(Class<?> type) {
        Set<Class<?>> neighbors = new HashSet<>(Arrays.asList(type.getDeclaredClasses()));
        if (type.isSealed()) {
            neighbors.addAll(Arrays.asList(type.getPermittedSubclasses()));
        }
        Stream<Type> parents = Stream.concat(Arrays.stream(type.getGenericInterfaces()),
                Stream.of(type.getEnclosingClass(), type.getGenericSuperclass()).filter(Objects::nonNull));
        Stream<Type> named = members(type).stream().flatMap(ApiTest::named);
        Stream<Type> fields = Arrays.stream(type.getDeclaredFields())
                .filter(field -> isOpen(field.getModifiers(), type)).map(Field::getGenericType);
        Stream.of(parents, named, fields).flatMap(types -> types)
                .forEach(each -> collect(each, neighbors, new HashSet<>()));
        return neighbors;
    }

    /** The types in a signature. */
    private static Stream<Type> named(Executable member) {
        return Stream.of(Arrays.stream(member.getGenericParameterTypes()),
                Arrays.stream(member.getGenericExceptionTypes()),
                member instanceof Method method ? Stream.of(method.getGenericReturnType()) : Stream.<Type>empty())
                .flatMap(types -> types);
    }

    private static void report(Set<String> found, String member, Type named) {
        Set<Class<?>> classes = new HashSet<>();
        collect(named, classes, new HashSet<>());
        for (Class<?> type : classes) {
            if (type.getName().startsWith("io.penstock.")
                    && !(exported.contains(type.getPackageName()) && isAccessible(type))) {
                found.add(type.getName() + " in " + member);
            }
        }
    }

    private static void collect(Type type, Set<Class<?>> into, Set<Type> seen) {
        if (!seen.add(type)) {
            return;
        }
        switch (type) {
            case Class<?> named -> into.add(innermost(named));
            case ParameterizedType named -> {
                collect(named.getRawType(), into, seen);
                Arrays.stream(named.getActualTypeArguments()).forEach(argument -> collect(argument, into, seen));
            }
            case GenericArrayType array -> collect(array.getGenericComponentType(), into, seen);
            case WildcardType any -> Stream.of(any.getUpperBounds(), any.getLowerBounds()).flatMap(Arrays::stream)
                    .forEach(bound -> collect(bound, into, seen));
            case TypeVariable<?> variable -> Arrays.stream(variable.getBounds())
                    .forEach(bound -> collect(bound, into, seen));
            default -> throw new AssertionError(type);
        }
    }

    private static Class<?> innermost(Class<?> type) {
        return type.isArray() ? innermost(type.getComponentType()) : type;
    }

    private static boolean isAccessible(Class<?> type) {
        for (Class<?> at = type; at != null; at = at.getEnclosingClass()) {
            if (!Modifier.isPublic(at.getModifiers()) || at.isAnonymousClass() || at.isLocalClass()) {
                return false;
            }
        }
        return true;
    }

    private static List<Executable> members(Class<?> type) {
        return Stream.<Executable>concat(Arrays.stream(type.getDeclaredMethods()),
                        Arrays.stream(type.getDeclaredConstructors()))
                .filter(member -> isOpen(member.getModifiers(), type) && !member.isSynthetic()).toList();
    }

    /** Whether users can reach a member: public, or protected in a class that they can extend. */
    private static boolean isOpen(int modifiers, Class<?> type) {
        return Modifier.isPublic(modifiers)
                || Modifier.isProtected(modifiers) && !Modifier.isFinal(type.getModifiers()) && !type.isSealed();
    }
}
