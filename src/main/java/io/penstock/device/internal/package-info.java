// SPDX-License-Identifier: Apache-2.0
/** Shared by the device implementations: the record of open resources. Not exported. */
@NullMarked
package io.penstock.device.internal;

import org.jspecify.annotations.NullMarked;
