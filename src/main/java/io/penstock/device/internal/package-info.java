// SPDX-License-Identifier: Apache-2.0
/**
 * Shared by devices and kernels: open resources, memory by address, words of a kernel's arguments, threads that have a
 * device current. Not exported.
 */
@NullMarked
package io.penstock.device.internal;

import org.jspecify.annotations.NullMarked;
