// SPDX-License-Identifier: Apache-2.0
package io.penstock.device.internal;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A place to look for one of CUDA's libraries.
 *
 * @param origin the source of this place, for messages
 * @param library a file, or a bare name for the system loader to search
 * @param binding whether the user set it, so that no other place is tried
 */
public record LibraryPlace(String origin, String library, boolean binding) {

    /**
     * The places to try, in order.
     *
     * @param soname the library's file name
     * @param property the system property that names a file
     * @param set its value
     * @param environment the variables of the process; that named like the property, in capitals, names a file too
     */
    public static List<LibraryPlace> of(String soname, String property, @Nullable String set,
            Map<String, String> environment) {
        if (set != null && !set.isBlank()) {
            return List.of(new LibraryPlace("property " + property, set, true));
        }
        String variable = property.toUpperCase(Locale.ROOT).replace('.', '_');
        String named = environment.get(variable);
        if (named != null && !named.isBlank()) {
            return List.of(new LibraryPlace("variable " + variable, named, true));
        }
        List<LibraryPlace> places = new ArrayList<>();
        places.add(new LibraryPlace("the system's loader", soname, false));
        for (String root : List.of("CUDA_HOME", "CUDA_PATH")) {
            String folder = environment.get(root);
            if (folder != null && !folder.isBlank()) {
                places.add(new LibraryPlace("variable " + root, Path.of(folder, "lib64", soname).toString(), false));
            }
        }
        places.add(new LibraryPlace("the usual place", "/usr/local/cuda/lib64/" + soname, false));
        return places;
    }
}
