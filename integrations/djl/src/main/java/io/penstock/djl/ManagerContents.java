// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.ndarray.BaseNDManager;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes a manager of DJL usable for another batch. DJL itself can only close managers: what is attached to one is in
 * two protected maps, {@code resources} and {@code tempResources}. Where DJL has no such maps, no manager is reused.
 */
final class ManagerContents {

    private static final @Nullable Field RESOURCES = field("resources");
    private static final @Nullable Field TEMPORARY = field("tempResources");

    private final Map<?, ?> resources;
    private final Map<?, ?> temporary;
    /** What belongs to the manager, compared by identity: DJL's arrays are equal if their values are. */
    private final Set<Object> own = Collections.newSetFromMap(new IdentityHashMap<>());

    private ManagerContents(Map<?, ?> resources, Map<?, ?> temporary) {
        this.resources = resources;
        this.temporary = temporary;
        this.own.addAll(resources.values());
    }

    /**
     * Notes what is attached to a manager now.
     *
     * @return null if DJL does not say what is
     */
    static @Nullable ManagerContents of(BaseNDManager manager) {
        return mapOf(RESOURCES, manager) instanceof Map<?, ?> resources
                && mapOf(TEMPORARY, manager) instanceof Map<?, ?> temporary ? new ManagerContents(resources, temporary)
                : null;
    }

    /**
     * Closes what was attached since, which is what was computed from the manager's arrays.
     *
     * @return whether the manager has its own contents again; otherwise it must be closed
     */
    boolean restore() {
        if (!temporary.isEmpty()) {
            return false;
        }
        if (resources.size() > own.size()) {
            for (Object resource : resources.values()) {
                if (!own.contains(resource)) {
                    try {
                        ((AutoCloseable) resource).close();
                    } catch (Exception e) {
                        return false;       // the manager's close() tries again, and logs why it fails
                    }
                }
            }
        }
        return resources.size() == own.size();
    }

    private static @Nullable Field field(String name) {
        try {
            Field field = BaseNDManager.class.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException | InaccessibleObjectException e) {
            return null;
        }
    }

    private static @Nullable Object mapOf(@Nullable Field field, BaseNDManager manager) {
        try {
            return field == null ? null : field.get(manager);
        } catch (IllegalAccessException e) {
            return null;
        }
    }
}
