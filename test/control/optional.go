// Package optional has what generated clients use of github.com/antihax/optional, which Debian does not package.
package optional

type Interface struct{ value interface{} }

func (o Interface) IsSet() bool        { return o.value != nil }
func (o Interface) Value() interface{} { return o.value }

type String struct{ value *string }

func NewString(value string) String { return String{&value} }
func (o String) IsSet() bool        { return o.value != nil }
func (o String) Value() string      { return *o.value }

type Bool struct{ value *bool }

func (o Bool) IsSet() bool { return o.value != nil }
func (o Bool) Value() bool { return *o.value }

type Int32 struct{ value *int32 }

func NewInt32(value int32) Int32 { return Int32{&value} }
func (o Int32) IsSet() bool      { return o.value != nil }
func (o Int32) Value() int32     { return *o.value }
