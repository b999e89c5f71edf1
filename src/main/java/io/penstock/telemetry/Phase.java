// SPDX-License-Identifier: Apache-2.0
package io.penstock.telemetry;

/** The phases of a step that a trainer may mark. */
public enum Phase {
    /** Copying the input to the device; not for loaders, which measure their copies themselves. */
    COPY,
    /** Computing, if its phases are not distinguished. */
    COMPUTE,
    /** The forward pass. */
    FORWARD,
    /** The backward pass, with the exchange of gradients. */
    BACKWARD,
    /** The optimizer's step. */
    OPTIMIZER
}
